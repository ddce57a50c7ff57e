package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.kernel.ReduceKernels;
import org.sparkcollectives.internal.transport.heap.HeapGroup;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.testing.RankThreads;

/** Tests that each algorithm sends as many messages and bytes as its cost says. */
class AlgorithmCostTest {

  /** Divisible by 16 and by every world size here, so that parts are equal. */
  private static final int COUNT = 16 * 2 * 3 * 4 * 5 * 7;

  private static final int BYTES = COUNT * Float.BYTES;
  private static final ReduceKernel FLOATS = ReduceKernels.of(ReduceOp.SUM, DType.FLOAT32);
  private static final ReduceKernel HALVES = ReduceKernels.of(ReduceOp.SUM, DType.BFLOAT16);

  private static List<CountingPeers> run(int n, BiConsumer<CountingPeers, HostTensor> algorithm) {
    return run(n, DType.FLOAT32, algorithm);
  }

  private static List<CountingPeers> run(
      int n, DType dtype, BiConsumer<CountingPeers, HostTensor> algorithm) {
    HeapGroup group = new HeapGroup();
    return RankThreads.run(
        n,
        rank -> {
          CountingPeers peers = new CountingPeers(group, rank, n);
          algorithm.accept(peers, HostTensor.allocate(dtype, COUNT));
          return peers;
        });
  }

  private static int log2(int n) {
    return 32 - Integer.numberOfLeadingZeros(n - 1);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7, 8})
  void aRingAllReduceSendsTwiceAllPartsButOneInTwiceAsManySteps(int n) {
    for (CountingPeers rank : run(n, (peers, tensor) -> ring(peers, tensor))) {
      assertThat(rank.messages()).isEqualTo(2L * (n - 1));
      assertThat(rank.received()).isEqualTo(2L * (n - 1));
      assertThat(rank.peersUsed()).isLessThanOrEqualTo(2);
      if (n != 8) {
        assertThat(rank.bytes()).isEqualTo(2L * (n - 1) * BYTES / n);
      }
    }
  }

  private static void ring(CountingPeers peers, HostTensor tensor) {
    new RingAllReduce().run(peers, new Call.AllReduce(tensor, FLOATS));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7})
  void aDirectAllReduceSendsAsMuchAsARing(int n) {
    for (CountingPeers rank :
        run(
            n,
            DType.BFLOAT16,
            (peers, t) ->
                new DirectAllReduce(new Scratch()).run(peers, new Call.AllReduce(t, HALVES)))) {
      assertThat(rank.messages()).isEqualTo(2L * (n - 1));
      assertThat(rank.bytes()).isEqualTo(2L * (n - 1) * (BYTES / 2) / n);
    }
  }

  private static List<AlgorithmRows.Row<Call.AllReduce>> allReduces() {
    CostModel any = new CostModel(1, 1, 1, 8);
    return new AlgorithmSelector(new PathCosts(any, any, any)).table().allReduce.messages();
  }

  /** All of the table. */
  static Stream<Arguments> allReducesAndSizes() {
    return allReduces().stream()
        .map(AlgorithmRows.Row::name)
        .flatMap(
            name -> IntStream.of(2, 3, 4, 5, 6, 7, 8, 12, 16).mapToObj(n -> Arguments.of(name, n)));
  }

  /** One for each rank, as it may keep scratch memory. */
  private static MessageAlgorithm<Call.AllReduce> allReduce(String name) {
    return (MessageAlgorithm<Call.AllReduce>)
        allReduces().stream()
            .filter(row -> row.name().equals(name))
            .findFirst()
            .orElseThrow()
            .algorithm();
  }

  @ParameterizedTest
  @MethodSource("allReducesAndSizes")
  void anAllReduceSendsWhatItsCostSaysAndAddsUpTheSameBitsEverywhere(String name, int n) {
    Cost cost = allReduce(name).cost(n, BYTES);
    List<float[]> results = new ArrayList<>();
    List<CountingPeers> ranks =
        run(
            n,
            (peers, tensor) -> {
              float[] data = (float[]) tensor.array();
              Random random = new Random(peers.rank());
              for (int i = 0; i < data.length; i++) {
                data[i] = random.nextFloat() - 0.5f;
              }
              allReduce(name).run(peers, new Call.AllReduce(tensor, FLOATS));
              synchronized (results) {
                results.add(data);
              }
            });
    assertThat(ranks.stream().mapToLong(CountingPeers::messages).max()).hasValue(cost.messages());
    // Parts are cut at multiples of 16 elements.
    assertThat(ranks.stream().mapToLong(CountingPeers::bytes).max().orElseThrow())
        .isCloseTo(cost.bytes(), within(BYTES / 50L));
    double[] sum = new double[COUNT];
    for (int rank = 0; rank < n; rank++) {
      Random random = new Random(rank);
      for (int i = 0; i < COUNT; i++) {
        sum[i] += random.nextFloat() - 0.5f;
      }
    }
    for (float[] result : results) {
      assertThat(result).isEqualTo(results.get(0));
      for (int i = 0; i < COUNT; i += 97) {
        assertThat((double) result[i]).isCloseTo(sum[i], within(1e-4));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7, 8, 13})
  void aBruckAllGatherSendsAllPartsButOneInLogarithmicSteps(int n) {
    Cost cost = new BruckAllGather(new Scratch()).cost(n, BYTES);
    for (CountingPeers rank :
        run(
            n,
            (peers, all) -> {
              HostTensor own = HostTensor.allocate(DType.FLOAT32, COUNT / n);
              own.copyFrom(filled(COUNT / n, peers.rank()));
              HostTensor output = all.slice(0, (long) COUNT / n * n);
              new BruckAllGather(new Scratch())
                  .run(peers, new Call.AllGather(Chunks.equal(output, n), own));
              for (int i = 0; i < n; i++) {
                assertThat(((float[]) all.array())[i * (COUNT / n)]).isEqualTo(i);
              }
            })) {
      assertThat(rank.messages()).isEqualTo(cost.messages());
      assertThat(rank.bytes()).isCloseTo(cost.bytes(), within(BYTES / 100L));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7, 8, 13})
  void aBruckReduceScatterOfPartsOfAnySizeSendsAllButOneInLogarithmicSteps(int n) {
    Cost cost = new BruckReduceScatter(new Scratch()).cost(n, BYTES);
    for (CountingPeers rank :
        run(
            n,
            (peers, all) -> {
              HostTensor[] parts = new HostTensor[n];
              long from = 0;
              for (int i = 0; i < n; i++) {
                // The first is empty, and the last has what is left.
                long count = i == n - 1 ? COUNT - from : 100L * i;
                parts[i] = all.slice(from, count);
                parts[i].copyFrom(filled((int) count, i + 1));
                from += count;
              }
              HostTensor output = HostTensor.allocate(DType.FLOAT32, parts[peers.rank()].count());
              new BruckReduceScatter(new Scratch())
                  .run(peers, new Call.ReduceScatter(output, Chunks.ofParts(parts), FLOATS));
              assertThat((float[]) output.array())
                  .isEqualTo(filled((int) output.count(), n * (peers.rank() + 1)));
            })) {
      assertThat(rank.messages()).isEqualTo(cost.messages());
      assertThat(rank.bytes()).isLessThanOrEqualTo(BYTES);
    }
  }

  private static float[] filled(int count, float value) {
    float[] data = new float[count];
    Arrays.fill(data, value);
    return data;
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 7})
  void aChainSendsTheTensorOnceFromAllButItsEnd(int n) {
    int root = n - 1;
    for (CountingPeers rank :
        run(
            n,
            (peers, tensor) -> {
              tensor.copyFrom(filled(COUNT, peers.rank()));
              new ChainBroadcast().run(peers, new Call.Broadcast(tensor, root));
              assertThat(((float[]) tensor.array())[COUNT - 1]).isEqualTo(root);
              new ChainReduce(new Scratch()).run(peers, new Call.Reduce(tensor, root, FLOATS));
              float expected = peers.rank() == root ? root * n : root;
              assertThat(((float[]) tensor.array())[COUNT - 1]).isEqualTo(expected);
            })) {
      long once = new ChainBroadcast().cost(n, BYTES).messages();
      boolean last = rank.rank() == root - 1 || rank.rank() == root;
      assertThat(rank.messages()).isEqualTo(last ? once : 2 * once);
      assertThat(rank.bytes()).isEqualTo(last ? BYTES : 2L * BYTES);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7})
  void aRingAllGatherAndAReduceScatterSendAllPartsButOne(int n) {
    for (CountingPeers rank :
        run(
            n,
            (peers, all) ->
                new RingAllGather()
                    .run(
                        peers,
                        new Call.AllGather(
                            Chunks.equal(all, n),
                            HostTensor.allocate(DType.FLOAT32, COUNT / n))))) {
      assertThat(rank.messages()).isEqualTo(n - 1);
      assertThat(rank.bytes()).isEqualTo((long) (n - 1) * BYTES / n);
    }
    for (CountingPeers rank :
        run(
            n,
            (peers, all) ->
                new RingReduceScatter()
                    .run(
                        peers,
                        new Call.ReduceScatter(
                            HostTensor.allocate(DType.FLOAT32, COUNT / n),
                            Chunks.equal(all, n),
                            FLOATS)))) {
      assertThat(rank.messages()).isEqualTo(n - 1);
      assertThat(rank.bytes()).isEqualTo((long) (n - 1) * BYTES / n);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7, 8})
  void aBinomialBroadcastSendsFromTheRootAsOftenAsItHasSteps(int n) {
    for (int root : new int[] {0, n - 1}) {
      List<CountingPeers> ranks =
          run(
              n,
              (peers, tensor) ->
                  new BinomialBroadcast().run(peers, new Call.Broadcast(tensor, root)));
      assertThat(ranks.get(root).messages()).isEqualTo(log2(n));
      assertThat(ranks.get(root).bytes()).isEqualTo((long) log2(n) * BYTES);
      assertThat(ranks.stream().mapToLong(CountingPeers::messages).sum()).isEqualTo(n - 1);
      assertThat(ranks.stream().mapToLong(CountingPeers::received).max()).hasValue(1);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7, 8})
  void aBinomialReduceSendsTheTensorOnceFromAllButTheRoot(int n) {
    for (int root : new int[] {0, n - 1}) {
      List<CountingPeers> ranks =
          run(
              n,
              (peers, tensor) ->
                  new BinomialReduce().run(peers, new Call.Reduce(tensor, root, FLOATS)));
      for (CountingPeers rank : ranks) {
        assertThat(rank.messages()).isEqualTo(rank.rank() == root ? 0 : 1);
        assertThat(rank.bytes()).isEqualTo(rank.rank() == root ? 0 : BYTES);
        assertThat(rank.received()).isLessThanOrEqualTo(log2(n));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7})
  void aDirectReduceSendsAllPartsFromAllButTheRoot(int n) {
    for (CountingPeers rank :
        run(
            n,
            DType.BFLOAT16,
            (peers, t) ->
                new DirectReduce(new Scratch()).run(peers, new Call.Reduce(t, 0, HALVES)))) {
      long parts = rank.rank() == 0 ? n - 1 : n;
      assertThat(rank.messages()).isEqualTo(parts);
      assertThat(rank.bytes()).isEqualTo(parts * (BYTES / 2) / n);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7, 8})
  void aDisseminationBarrierSendsOneEmptyMessageAStep(int n) {
    for (CountingPeers rank :
        run(n, (peers, t) -> new DisseminationBarrier().run(peers, new Call.Barrier()))) {
      assertThat(rank.messages()).isEqualTo(log2(n));
      assertThat(rank.bytes()).isZero();
    }
  }
}
