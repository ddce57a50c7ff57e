package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.kernel.ReduceKernels;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Reach;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Tests the costs of algorithms by simulated groups of up to ten thousand ranks. */
class SimulationTest {

  private static final CostModel NETWORK = new CostModel(15e-6, 4e-6, 1e9, 8);
  private static final PathCosts COSTS = new PathCosts(NETWORK, NETWORK, NETWORK);
  private static final AlgorithmTable TABLE = new AlgorithmSelector(COSTS).table();

  /** Returns the names of those algorithms of messages that suit a situation. */
  private static List<String> names(
      Predicate<AlgorithmRows.Row<?>> suits, AlgorithmRows<?>... collectives) {
    return Stream.of(collectives)
        .<AlgorithmRows.Row<?>>flatMap(rows -> rows.messages().stream())
        .filter(suits)
        .map(AlgorithmRows.Row::name)
        .toList();
  }

  @Test
  void everyAlgorithmOfMessagesIsSimulated() {
    // The costs of reductions to a root count what it receives.
    assertThat(SimulatedAlgorithm.all().stream().map(SimulatedAlgorithm::name).toList())
        .as("the list in SimulatedAlgorithm")
        .containsAll(
            names(
                row -> true,
                TABLE.allReduce,
                TABLE.reduceScatter,
                TABLE.allGather,
                TABLE.broadcast,
                TABLE.allToAll));
  }

  @Test
  void everyAlgorithmOfMessagesHasATestOfItsName() throws ClassNotFoundException {
    for (String name :
        names(
            row -> true,
            TABLE.allReduce,
            TABLE.reduce,
            TABLE.reduceScatter,
            TABLE.allGather,
            TABLE.broadcast,
            TABLE.gather,
            TABLE.scatter,
            TABLE.allToAll,
            TABLE.barrier)) {
      Class<?> test = Class.forName(getClass().getPackageName() + "." + name + "Test");
      assertThat(MessageAlgorithmContract.class).isAssignableFrom(test);
    }
  }

  @Test
  void whatALargeGroupMayChooseMeetsFewPeers() {
    Situation large =
        Situation.ofMessages(COSTS, Reach.NETWORK, 10_000, Shape.ofParts(1_000, true));
    List<String> choices =
        names(
            row -> row.fit(large) == AlgorithmRows.Fit.GOOD,
            TABLE.allReduce,
            TABLE.reduce,
            TABLE.reduceScatter,
            TABLE.allGather,
            TABLE.broadcast);
    assertThat(choices).contains("RecursiveDoublingAllReduce").doesNotContain("FlatAllReduce");
    for (SimulatedAlgorithm algorithm : SimulatedAlgorithm.all()) {
      if (choices.contains(algorithm.name())) {
        // A doubling has a peer each way; the ranks beyond a power of two have another.
        assertThat(algorithm.connections(10_000)).as(algorithm.name()).isLessThanOrEqualTo(2 * 14);
      }
    }
  }

  @Test
  void aBarrierOfTenThousandRanksTakesAStepForEachDoubling() {
    for (int ranks : SimulatedAlgorithm.SIZES) {
      int doublings = Integer.SIZE - Integer.numberOfLeadingZeros(ranks - 1);
      Simulation simulated =
          Simulation.of(ranks, rank -> new DisseminationBarrier().run(rank, new Call.Barrier()));
      assertThat(simulated.steps()).isEqualTo(doublings);
      assertThat(simulated.messages()).isEqualTo(doublings);
      assertThat(simulated.connections()).isLessThanOrEqualTo(2 * doublings);
    }
  }

  /** JVMs of ten ranks. */
  @Test
  void aHierarchicalAllReduceCostsWhatOneOfASliceAmongTheJvmsDoes() {
    CostModel fast = new CostModel(0, 0, 1e15, 8);
    CostModel network = new CostModel(15e-6, 4e-6, 1e9, 8);
    PathCosts costs = new PathCosts(fast, fast, network);
    ReduceKernel sum = ReduceKernels.of(ReduceOp.SUM, DType.FLOAT32);
    for (int ranks : new int[] {20, 160, 640, 10_000}) {
      Locality jvms = Locality.of(IntStream.range(0, ranks).mapToObj(rank -> rank / 10).toList());
      HostTensor tensor = HostTensor.allocate(DType.FLOAT32, 16 * 20_000);
      long slice = tensor.byteSize() / 10;
      Cost across = ChosenAlgorithm.costOfAllReduce(costs, ranks / 10, slice, sum);
      AlgorithmSelector selector = new AlgorithmSelector(costs);
      AtomicLong waits = new AtomicLong();
      Simulation simulated =
          Simulation.of(
              ranks,
              rank -> {
                rank.divide(jvms);
                selector.run(rank, Call.allReduce(tensor, ReduceOp.SUM));
                waits.accumulateAndGet(rank.waits(), Math::max);
              });
      assertThat(waits).hasValue(3);
      assertThat(simulated.steps()).isBetween(across.steps() - 1, across.steps());
      assertThat(simulated.messages()).isEqualTo(across.messages());
      assertThat((double) simulated.bytes())
          .isCloseTo((double) across.bytes(), within(0.05 * across.bytes()));
      assertThat(simulated.connections()).isLessThanOrEqualTo(2 * 14);
    }
  }

  @Test
  void aHierarchicalBarrierTakesAStepForEachDoublingOfTheJvms() {
    CostModel fast = new CostModel(0, 0, 1e15, 8);
    AlgorithmSelector selector =
        new AlgorithmSelector(new PathCosts(fast, fast, new CostModel(15e-6, 4e-6, 1e9, 8)));
    Locality jvms = Locality.of(IntStream.range(0, 10_000).mapToObj(rank -> rank / 10).toList());
    Simulation simulated =
        Simulation.of(
            10_000,
            rank -> {
              rank.divide(jvms);
              selector.run(rank, new Call.Barrier());
            });
    assertThat(simulated.steps()).isEqualTo(10);
    assertThat(simulated.messages()).isEqualTo(10);
  }

  @Test
  void aSimulationNoticesARankThatWaitsInVain() {
    assertThatThrownBy(
            () ->
                Simulation.of(
                    2,
                    rank -> {
                      if (rank.rank() == 0) {
                        rank.pair(1).receive(null);
                      }
                    }))
        .isInstanceOf(AssertionError.class)
        .hasMessage("rank 0 waits in vain for rank 1");
  }
}
