package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DynamicTest;
import org.sparkcollectives.AlgorithmChoices;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.kernel.ReduceKernels;
import org.sparkcollectives.internal.transport.Reach;

/**
 * What is expected of an all-reduce that has been added. {@link AddingAnAlgorithmTest} loads it
 * together with the changed classes, and calls its methods by their names.
 */
final class AddedAllReduce {

  private static final int LARGEST_WORLD = 40;

  private AddedAllReduce() {}

  private static PathCosts costs() {
    CostModel network =
        CostModel.of(
            CostProfile.LATENCY.defaultValue(),
            CostProfile.OVERHEAD.defaultValue(),
            CostProfile.BANDWIDTH.defaultValue(),
            CostProfile.MESH.defaultValue());
    return new PathCosts(network, network, network);
  }

  private static AlgorithmRows<Call.AllReduce> rows() {
    return new AlgorithmSelector(costs()).table().allReduce;
  }

  /** It passes the contract of all all-reduces, as a test of its name. */
  static void keepsTheContract(String name) throws Throwable {
    Class<?> type = Class.forName(AddedAllReduce.class.getPackageName() + "." + name + "Test");
    AllReduceContract test = (AllReduceContract) type.getDeclaredConstructor().newInstance();
    for (MessageAlgorithmContract.Group group :
        test.groups().filter(each -> each.ranks() <= 5).toList()) {
      test.givesEachRankItsResult(group);
      test.multipliesOnce(group);
    }
    for (int ranks = 2; ranks <= 5; ranks++) {
      test.sendsWhatItsCostSays(ranks);
      test.givesAllRanksTheSameBits(ranks);
    }
    List<DynamicTest> simulated = test.takesTheStepsMessagesAndBytesOfItsCost().toList();
    assertThat(simulated).hasSize(SimulatedAlgorithm.SIZES.size());
    for (DynamicTest each : simulated) {
      each.getExecutable().execute();
    }
  }

  /** The tests of all algorithms together know it. */
  static void isListed() throws Throwable {
    SimulationTest simulation = new SimulationTest();
    simulation.everyAlgorithmOfMessagesIsSimulated();
    simulation.everyAlgorithmOfMessagesHasATestOfItsName();
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
