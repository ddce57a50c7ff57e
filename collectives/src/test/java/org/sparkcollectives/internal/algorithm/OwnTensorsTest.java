package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.transport.GroupMemory;
import org.sparkcollectives.internal.transport.HeapMemory;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HeapTensor;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * In memory that all ranks see, a rank writes to its own tensors only: those of others may have
 * been taken back by the time it does.
 */
class OwnTensorsTest {

  private static final int RANKS = 3;
  private static final int[] COUNTS = {1, 5_000, 100_003};
  private static final CostModel COST = new CostModel(1e-6, 1e-6, 1e9, 100);

  /** An operation of one rank on its own tensors. */
  private interface Operation {
    void run(AlgorithmSelector algorithms, Peers peers, int count);
  }

  private static HostTensor filled(long seed, long count) {
    Random random = new Random(seed);
    int[] values = new int[(int) count];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextInt();
    }
    return HostTensor.wrap(DType.INT32, values);
  }

  private static List<HostTensor> filled(int count) {
    List<HostTensor> parts = new ArrayList<>();
    for (int rank = 0; rank < RANKS; rank++) {
      parts.add(filled(rank, count));
    }
    return parts;
  }

  private static Operation reducing(ReduceOp op) {
    return (algorithms, peers, count) ->
        algorithms.run(peers, Call.allReduce(filled(7, count), op));
  }

  static Stream<Arguments> operations() {
    return Stream.of(
        Arguments.of("all-reduce", reducing(ReduceOp.SUM)),
        Arguments.of("all-reduce of the largest", reducing(ReduceOp.MAX)),
        Arguments.of(
            "reduce",
            (Operation)
                (algorithms, peers, count) ->
                    algorithms.run(peers, Call.reduce(filled(7, count), ReduceOp.SUM, 1))),
        Arguments.of(
            "reduce-scatter",
            (Operation)
                (algorithms, peers, count) ->
                    algorithms.run(
                        peers,
                        Call.reduceScatter(
                            filled(7, count),
                            filled(8, count * (long) RANKS),
                            ReduceOp.SUM,
                            RANKS))),
        Arguments.of(
            "broadcast",
            (Operation)
                (algorithms, peers, count) ->
                    algorithms.run(peers, new Call.Broadcast(filled(7, count), 1))),
        Arguments.of(
            "all-gather",
            (Operation)
                (algorithms, peers, count) ->
                    algorithms.run(
                        peers,
                        Call.allGather(filled(7, count * (long) RANKS), filled(8, count), RANKS))),
        Arguments.of(
            "gather",
            (Operation)
                (algorithms, peers, count) ->
                    algorithms.run(
                        peers,
                        new Call.Gather(
                            peers.rank() == 1 ? filled(count) : List.of(), filled(8, count), 1))),
        Arguments.of(
            "scatter",
            (Operation)
                (algorithms, peers, count) ->
                    algorithms.run(
                        peers,
                        new Call.Scatter(
                            filled(8, count), peers.rank() == 1 ? filled(count) : List.of(), 1))),
        Arguments.of(
            "all-to-all",
            (Operation)
                (algorithms, peers, count) ->
                    algorithms.run(
                        peers,
                        Call.allToAll(
                            filled(7, count * (long) RANKS),
                            filled(8, count * (long) RANKS),
                            RANKS))),
        Arguments.of(
            "barrier",
            (Operation) (algorithms, peers, count) -> algorithms.run(peers, new Call.Barrier())));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("operations")
  void aRankWritesToItsOwnTensorsOnly(String name, Operation operation) {
    for (int count : COUNTS) {
      for (int rank = 0; rank < RANKS; rank++) {
        Alone peers = new Alone(rank);
        operation.run(new AlgorithmSelector(new PathCosts(COST, COST, COST)), peers, count);
        peers.region.assertThatOthersAreUnchanged(name + " of " + count + ", rank " + rank);
      }
    }
  }

  @Test
  void anOwnerWritesItsPartOfTheSumToTheScratchMemoryOfOthers() {
    int count = 300_001;
    for (int rank = 0; rank < RANKS; rank++) {
      Alone peers = new Alone(rank);
      int next = (rank + 1) % RANKS;
      peers.region.scratch.add(next);
      reducing(ReduceOp.SUM)
          .run(new AlgorithmSelector(new PathCosts(COST, COST, COST)), peers, count);

      HostTensor written = peers.region.theirs.remove(new Place(next, 0, count));
      peers.region.assertThatOthersAreUnchanged("rank " + rank);
      int[] result = (int[]) written.array();
      int[] before = (int[]) filled(new Place(next, 0, count).hashCode(), count).array();
      int[] sum = (int[]) peers.region.mine.get(0).array();
      HeapTensor part = (HeapTensor) Chunks.part(written, rank, RANKS);
      int from = part.arrayIndex(0);
      int to = part.arrayIndex(part.count());
      assertThat(Arrays.mismatch(result, 0, from, before, 0, from)).isEqualTo(-1);
      assertThat(Arrays.mismatch(result, from, to, sum, from, to)).isEqualTo(-1);
      assertThat(Arrays.mismatch(result, to, count, before, to, count)).isEqualTo(-1);
      assertThat(Arrays.mismatch(result, from, to, before, from, to)).isNotEqualTo(-1);
    }
  }

  @Test
  void aRankReducesAllOfItsPartBeforeItWaitsForAnother() {
    int count = 600_001;
    for (int rank = 0; rank < RANKS; rank++) {
      Alone peers = new Alone(rank);
      peers.region.progressOfOthers = 0;
      reducing(ReduceOp.SUM)
          .run(new AlgorithmSelector(new PathCosts(COST, COST, COST)), peers, count);
      long part = Chunks.part(peers.region.mine.get(0), rank, RANKS).count();
      assertThat(peers.region.progressAtWaits).isNotEmpty().containsOnly(part);
    }
  }

  /** A rank whose peers publish something, and have published all of it. */
  private static final class Alone implements Peers {
    private final Region region;

    Alone(int rank) {
      this.region = new Region(rank);
    }

    @Override
    public int rank() {
      return region.rank();
    }

    @Override
    public int size() {
      return RANKS;
    }

    @Override
    public GroupMemory memory() {
      return new HeapMemory(region);
    }

    @Override
    public Pair pair(int peer) {
      throw new AssertionError("a message to rank " + peer);
    }

    @Override
    public void flush() {}
  }

  private record Place(int rank, int index, long count) {}

  private static final class Region implements SharedRegion {
    private final int rank;
    private final Map<Place, HostTensor> theirs = new HashMap<>();
    private final Set<Integer> scratch = new HashSet<>();
    private final List<Long> progressAtWaits = new ArrayList<>();
    private List<HostTensor> mine = List.of();
    private long progressOfOthers = Long.MAX_VALUE;
    private long progress;

    Region(int rank) {
      this.rank = rank;
    }

    void assertThatOthersAreUnchanged(String what) {
      theirs.forEach(
          (place, tensor) ->
              assertThat(
                      Arrays.mismatch(
                          (int[]) tensor.array(),
                          (int[]) filled(place.hashCode(), place.count).array()))
                  .as("%s: the first element of %s that was written", what, place)
                  .isEqualTo(-1));
    }

    @Override
    public int rank() {
      return rank;
    }

    @Override
    public int size() {
      return RANKS;
    }

    @Override
    public void publish(List<HostTensor> tensors) {
      mine = tensors;
    }

    @Override
    public HostTensor publishedBy(int peer, int index, DType dtype, long count) {
      return peer == rank
          ? mine.get(index)
          : theirs.computeIfAbsent(
              new Place(peer, index, count), place -> filled(place.hashCode(), count));
    }

    @Override
    public boolean mayWriteTo(int peer, int index) {
      return scratch.contains(peer);
    }

    @Override
    public void publishProgress(long amount) {
      progress = amount;
    }

    @Override
    public long progressOf(int peer) {
      return progressOfOthers;
    }

    @Override
    public void awaitProgress(int peer, long amount) {
      progressAtWaits.add(progress);
    }

    @Override
    public void check() {}

    @Override
    public void finish() {}

    @Override
    public void leave() {}
  }
}
