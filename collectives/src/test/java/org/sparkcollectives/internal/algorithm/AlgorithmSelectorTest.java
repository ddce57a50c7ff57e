package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.kernel.ReduceKernels;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Tests which algorithm is chosen, and how costs grow up to ten thousand ranks. */
class AlgorithmSelectorTest {

  private static final ReduceKernel FLOATS = ReduceKernels.of(ReduceOp.SUM, DType.FLOAT32);
  private static final ReduceKernel HALVES = ReduceKernels.of(ReduceOp.SUM, DType.FLOAT16);

  private static CostModel model(long bytesPerSecond) {
    return CostModel.of(
        CostProfile.LATENCY.defaultValue(),
        CostProfile.OVERHEAD.defaultValue(),
        bytesPerSecond,
        CostProfile.MESH.defaultValue());
  }

  private static PathCosts costs(CostModel model) {
    return new PathCosts(model, model, model);
  }

  private static Cost cost(CostModel model, int ranks, long bytes) {
    return ChosenAlgorithm.costOfAllReduce(costs(model), ranks, bytes, FLOATS);
  }

  private static String chosen(int ranks, long bytes, ReduceKernel kernel) {
    return ChosenAlgorithm.allReduce(
            costs(model(CostProfile.BANDWIDTH.defaultValue())), ranks, bytes, kernel)
        .name();
  }

  @ParameterizedTest
  @CsvSource({
    "2, 4, FlatAllReduce",
    "4, 1024, FlatAllReduce",
    "4, 65536, RecursiveDoublingAllReduce",
    "4, 262144, HalvingDoublingAllReduce",
    "4, 67108864, RingAllReduce",
    "7, 67108864, RingAllReduce",
    "64, 4, RecursiveDoublingAllReduce",
    "64, 1048576, HalvingDoublingAllReduce",
    "1000, 1024, RecursiveDoublingAllReduce",
    "24, 268435456, RingAllReduce",
  })
  void theSizeOfTheTensorAndOfTheWorldDecide(int ranks, long bytes, String algorithm) {
    assertThat(chosen(ranks, bytes, FLOATS)).isEqualTo(algorithm);
  }

  @ParameterizedTest
  @CsvSource({
    "2, 4, FlatAllReduce",
    "8, 1024, FlatAllReduce",
    "4, 67108864, PairwiseAllReduce",
    "24, 67108864, PairwiseAllReduce",
    "25, 67108864, RingAllReduce",
    "64, 4, RecursiveDoublingAllReduce",
    "512, 67108864, HalvingDoublingAllReduce",
  })
  void halvesOfFewRanksAreNotSentAsSums(int ranks, long bytes, String algorithm) {
    assertThat(chosen(ranks, bytes, HALVES)).isEqualTo(algorithm);
  }

  @Test
  void halvesTakeNoLongerThanWhereEachRankSendsToEach() {
    CostModel model = model(CostProfile.BANDWIDTH.defaultValue());
    Scratch scratch = new Scratch();
    for (int ranks = 2; ranks <= 1_000; ranks += ranks < 40 ? 1 : 37) {
      for (long bytes = 2; bytes <= 1L << 30; bytes *= 2) {
        double chosen =
            model.seconds(ChosenAlgorithm.costOfAllReduce(costs(model), ranks, bytes, HALVES));
        double flat = model.seconds(new FlatAllReduce(scratch).cost(ranks, bytes));
        double direct = model.seconds(new DirectAllReduce(scratch).cost(ranks, bytes));
        assertThat(chosen)
            .as("seconds for %s bytes of %s ranks", bytes, ranks)
            .isLessThanOrEqualTo(Math.min(bytes <= 256 << 10 ? flat : direct, direct));
      }
    }
  }

  @Test
  void theTimeOfHalvesGrowsWithTheLogarithmOfTheRanksForSmallAndNotAtAllForLargeTensors() {
    CostModel model = model(CostProfile.BANDWIDTH.defaultValue());
    PathCosts costs = costs(model);
    for (int ranks = 2; ranks <= 10_000; ranks++) {
      int log = Integer.SIZE - Integer.numberOfLeadingZeros(ranks - 1);
      double small = model.seconds(ChosenAlgorithm.costOfAllReduce(costs, ranks, 4, HALVES));
      assertThat(small).isLessThan((log + 2) * (15e-6 + 4e-6));
      if (ranks > 1_024) {
        continue; // Steps begin to count for large tensors, too.
      }
      // Of the time that float32 takes for as many elements.
      long bytes = 64 << 20;
      double large = model.seconds(ChosenAlgorithm.costOfAllReduce(costs, ranks, bytes, HALVES));
      double floats =
          model.seconds(ChosenAlgorithm.costOfAllReduce(costs, ranks, 2 * bytes, FLOATS));
      assertThat(large / floats).as("ranks %s", ranks).isBetween(0.49, 0.8);
    }
  }

  @Test
  void costsOfTenThousandRanksAreLogarithmicForSmallAndBoundByTheTensorForLargeOnes() {
    CostModel costs = model(CostProfile.BANDWIDTH.defaultValue());
    for (int ranks = 16; ranks <= 10_000; ranks = ranks * 5 / 2) {
      Cost small = cost(costs, ranks, 4);
      int log = Integer.SIZE - Integer.numberOfLeadingZeros(ranks - 1);
      assertThat(small.steps()).isLessThanOrEqualTo(log + 2);
      assertThat(small.messages()).isLessThanOrEqualTo(log + 1);
      long bytes = 1L << 30;
      Cost large = cost(costs, ranks, bytes);
      assertThat(large.bytes()).isLessThanOrEqualTo(3 * bytes);
    }
  }

  @Test
  void aSlowNetworkPrefersFewerBytesAndAFastOneFewerSteps() {
    long bytes = 256 * 1024;
    Cost slow = cost(model(1 << 20), 64, bytes);
    Cost fast = cost(model(1L << 40), 64, bytes);
    assertThat(slow.bytes()).isLessThan(fast.bytes());
    assertThat(fast.steps()).isLessThan(slow.steps());
    assertThat(CostModel.of(Duration.ZERO, Duration.ZERO, 1, 0).allowsMesh(2)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "8, 1024, DirectReduceScatter",
    "64, 1024, BruckReduceScatter",
    "1000, 65536, BruckReduceScatter",
    "12, 67108864, RingReduceScatter",
  })
  void aSmallReduceScatterOfManyRanksTakesLogarithmicSteps(
      int ranks, long bytes, String algorithm) {
    CostModel costs = model(CostProfile.BANDWIDTH.defaultValue());
    HostTensor input = HostTensor.allocate(DType.FLOAT32, bytes / 4 / ranks * ranks);
    HostTensor output = HostTensor.allocate(DType.FLOAT32, bytes / 4 / ranks);
    assertThat(
            ChosenAlgorithm.of(
                ranks,
                peers ->
                    new AlgorithmSelector(costs(costs))
                        .run(peers, Call.reduceScatter(output, input, ReduceOp.SUM, peers.size()))))
        .isEqualTo(algorithm);
  }
}
