package org.sparkcollectives.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.BiConsumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.testing.RankThreads;
import org.sparkcollectives.transport.heap.HeapGroup;

/** That each algorithm sends what the line about its cost says. */
class AlgorithmCostTest {

  /** Divisible by 16 and by every world size here, so that parts are equal. */
  private static final int COUNT = 16 * 2 * 3 * 4 * 5 * 7;

  private static final int BYTES = COUNT * Float.BYTES;
  private static final ReduceKernel FLOATS = ReduceKernel.of(ReduceOp.SUM, DType.FLOAT32);
  private static final ReduceKernel HALVES = ReduceKernel.of(ReduceOp.SUM, DType.BFLOAT16);

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
    new RingAllReduce().run(peers, tensor, FLOATS);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7})
  void aDirectAllReduceSendsAsMuchAsARing(int n) {
    for (CountingPeers rank :
        run(n, DType.BFLOAT16, (peers, t) -> new DirectAllReduce().run(peers, t, HALVES))) {
      assertThat(rank.messages()).isEqualTo(2L * (n - 1));
      assertThat(rank.bytes()).isEqualTo(2L * (n - 1) * (BYTES / 2) / n);
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
                        Chunks.equal(all, n),
                        HostTensor.allocate(DType.FLOAT32, COUNT / n)))) {
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
                        HostTensor.allocate(DType.FLOAT32, COUNT / n),
                        Chunks.equal(all, n),
                        FLOATS))) {
      assertThat(rank.messages()).isEqualTo(n - 1);
      assertThat(rank.bytes()).isEqualTo((long) (n - 1) * BYTES / n);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7, 8})
  void aBinomialBroadcastSendsFromTheRootAsOftenAsItHasSteps(int n) {
    for (int root : new int[] {0, n - 1}) {
      List<CountingPeers> ranks =
          run(n, (peers, tensor) -> new BinomialBroadcast().run(peers, tensor, root));
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
          run(n, (peers, tensor) -> new BinomialReduce().run(peers, tensor, root, FLOATS));
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
        run(n, DType.BFLOAT16, (peers, t) -> new DirectReduce().run(peers, t, 0, HALVES))) {
      long parts = rank.rank() == 0 ? n - 1 : n;
      assertThat(rank.messages()).isEqualTo(parts);
      assertThat(rank.bytes()).isEqualTo(parts * (BYTES / 2) / n);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 7, 8})
  void aDisseminationBarrierSendsOneEmptyMessageAStep(int n) {
    for (CountingPeers rank : run(n, (peers, t) -> new DisseminationBarrier().run(peers))) {
      assertThat(rank.messages()).isEqualTo(log2(n));
      assertThat(rank.bytes()).isZero();
    }
  }
}
