package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.sparkcollectives.AlgorithmChoices;
import org.sparkcollectives.CostConfiguration;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.kernel.ReduceKernels;
import org.sparkcollectives.internal.transport.Reach;
import org.sparkcollectives.internal.transport.heap.HeapGroup;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.testing.RankThreads;

/**
 * What is expected of an all-reduce that has been added. {@link AddingAnAlgorithmTest} loads it
 * together with the changed classes, and calls its methods by their names.
 */
final class AddedAllReduce {

  private static final int COUNT = 1_000;
  private static final int LARGEST_WORLD = 40;

  private AddedAllReduce() {}

  private static PathCosts costs() {
    CostModel network =
        CostModel.of(
            CostConfiguration.LATENCY.defaultValue(),
            CostConfiguration.OVERHEAD.defaultValue(),
            CostConfiguration.BANDWIDTH.defaultValue(),
            CostConfiguration.MESH.defaultValue());
    return new PathCosts(network, network, network);
  }

  private static AlgorithmRows<Call.AllReduce> rows() {
    return new AlgorithmSelector(costs()).table().allReduce;
  }

  /** It adds up, averages and multiplies what the ranks give. */
  static void reduces(String name, int ranks) {
    reduces(name, ranks, ReduceOp.SUM, 1);
    reduces(name, ranks, ReduceOp.AVG, 1.0 / ranks);
    reduces(name, ranks, ReduceOp.premulSum(2), 2);
  }

  private static void reduces(String name, int ranks, ReduceOp op, double factor) {
    HeapGroup group = new HeapGroup();
    List<float[]> results =
        RankThreads.run(
            ranks,
            rank -> {
              float[] data = new float[COUNT];
              for (int i = 0; i < COUNT; i++) {
                data[i] = rank + i;
              }
              HostTensor tensor = HostTensor.allocate(DType.FLOAT32, COUNT);
              tensor.copyFrom(data);
              rows().messages().stream()
                  .filter(row -> row.name().equals(name))
                  .findFirst()
                  .orElseThrow()
                  .algorithm()
                  .run(
                      new CountingPeers(group, rank, ranks),
                      new Call.AllReduce(tensor, ReduceKernels.of(op, DType.FLOAT32)));
              return (float[]) tensor.array();
            });
    int ofRanks = ranks * (ranks - 1) / 2;
    for (float[] result : results) {
      for (int i = 0; i < COUNT; i++) {
        double expected = factor * (ofRanks + ranks * i);
        assertThat((double) result[i])
            .as("%s of element %s", op, i)
            .isCloseTo(expected, within(1e-3));
      }
    }
  }

  /** It passes the test of all all-reduces, which take their cost from the table. */
  static void sendsWhatItsCostSays(String name, int ranks) {
    assertThat(AlgorithmCostTest.allReducesAndSizes().map(each -> each.get()[0])).contains(name);
    new AlgorithmCostTest()
        .anAllReduceSendsWhatItsCostSaysAndAddsUpTheSameBitsEverywhere(name, ranks);
  }

  /** It passes the tests of the simulation. */
  static void isSimulated(String name) {
    SimulationTest simulation = new SimulationTest();
    simulation.anAlgorithmTakesTheStepsMessagesAndBytesThatItSays(
        SimulatedAlgorithm.all().stream()
            .filter(algorithm -> algorithm.name().equals(name))
            .findFirst()
            .orElseThrow());
    simulation.everyAlgorithmOfMessagesIsSimulated();
    simulation.whatALargeGroupMayChooseMeetsFewPeers();
  }

  /**
   * It is chosen where it is predicted to take the least time, among so many ranks and no other.
   */
  static void isChosen(String name, int leastRanks, int mostRanks) {
    AlgorithmRows<Call.AllReduce> rows = rows();
    Set<Integer> worlds = new TreeSet<>();
    for (int ranks = 2; ranks <= LARGEST_WORLD; ranks++) {
      for (long bytes = 4; bytes <= 1 << 24; bytes *= 2) {
        Shape shape = Shape.ofReduction(bytes, ReduceKernels.of(ReduceOp.SUM, DType.FLOAT32));
        Situation situation = Situation.ofMessages(costs(), Reach.NETWORK, ranks, shape);
        AlgorithmRows.Row<Call.AllReduce> cheapest =
            rows.messages().stream()
                .filter(row -> row.fit(situation) == AlgorithmRows.Fit.GOOD)
                .min(Comparator.comparingDouble(row -> row.seconds(situation)))
                .orElseThrow();
        String chosen = rows.choose(situation).name();
        assertThat(chosen).as("%s bytes of %s ranks", bytes, ranks).isEqualTo(cheapest.name());
        if (chosen.equals(name)) {
          worlds.add(ranks);
        }
      }
    }
    Set<Integer> expected = new TreeSet<>();
    for (int ranks = leastRanks; ranks <= mostRanks; ranks++) {
      expected.add(ranks);
    }
    assertThat(worlds).isEqualTo(expected);
  }

  /** Returns the explanation of the all-reduces of ranks that are each on a host of their own. */
  static String explanation(int ranks) {
    return new AlgorithmSelector(costs())
        .explain(AskedPeers.overNetwork(ranks), DType.FLOAT32, ReduceOp.SUM).stream()
            .filter(choice -> choice.collective() == OpType.ALL_REDUCE)
            .map(AlgorithmChoices.Choice::toString)
            .collect(Collectors.joining());
  }
}
