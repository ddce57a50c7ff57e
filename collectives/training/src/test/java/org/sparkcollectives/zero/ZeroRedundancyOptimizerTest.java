package org.sparkcollectives.zero;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.ddp.Parameter;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/**
 * Tests that a sharded optimizer computes what one for all does, and keeps a share of the state.
 */
@ExtendWith(LeakCheck.class)
class ZeroRedundancyOptimizerTest {

  private static final AdamOptions ADAM = new AdamOptions().withLearningRate(0.1);
  private static final int STEPS = 4;

  private static int[] ranks(ProcessGroup group) {
    return IntStream.range(0, group.size()).toArray();
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "DETAIL", "SHM", "TCP", "MIXED"})
  void adamOnGradientsThatItAveragesEqualsAnUnsharedAdamBitForBit(Paths paths) {
    for (int size = 1; size <= 4; size++) {
      List<String> expected = SharedModel.trained(new AdamOptimizer(ADAM), STEPS, size);
      GroupRuns.run(
          size,
          paths,
          group -> {
            ZeroTraining training = new ZeroTraining(group, ADAM);
            training.steps(STEPS);
            assertThat(training.model.bits()).isEqualTo(expected);
            return null;
          });
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "SHM", "TCP", "MIXED"})
  void adamOnAveragedGradientsEqualsAnUnsharedAdamBitForBit(Paths paths) {
    List<String> expected = SharedModel.trained(new AdamOptimizer(ADAM), STEPS, 3);
    GroupRuns.run(
        3,
        paths,
        group -> {
          SharedModel model = new SharedModel();
          int[] step = {0};
          ZeroRedundancyOptimizer zero =
              ZeroRedundancyOptimizer.create(
                  group,
                  model.parameters(),
                  new AdamOptimizer(ADAM),
                  ZeroOptions.defaults()
                      .withAveragedGradients(i -> model.mean(i, step[0], 3, ranks(group))));
          for (; step[0] < STEPS; step[0]++) {
            zero.step();
          }
          assertThat(model.bits()).isEqualTo(expected);
          assertThatThrownBy(() -> zero.gradient(0))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("withAveragedGradients");
          return null;
        });
  }

  @Test
  void aRankKeepsTheStateOfItsOwnParametersAndMayOwnNone() {
    GroupRuns.run(
        4,
        Paths.HEAP,
        group -> {
          SharedModel model = new SharedModel();
          AdamOptimizer adam = new AdamOptimizer(ADAM);
          ZeroPartition partition = ZeroPartition.of(new int[] {0, 1, 1, 3, 3, 0}, 4);
          ZeroRedundancyOptimizer zero =
              ZeroRedundancyOptimizer.create(
                  group, model.parameters(), adam, ZeroOptions.defaults().withPartition(partition));
          for (int i = 0; i < 6; i++) {
            zero.gradient(i).copyFrom(model.gradient(i, 0, group.rank()));
          }
          zero.step();
          for (int i = 0; i < 6; i++) {
            assertThat(adam.state(i).isEmpty()).isEqualTo(partition.owner(i) != group.rank());
          }
          assertThat(zero.partition()).isEqualTo(partition);
          assertThat(model.bits()).isEqualTo(SharedModel.trained(new AdamOptimizer(ADAM), 1, 4));
          return null;
        });
  }

  @Test
  void aStepIsOneReduceScatterAndOneAllGatherOfEachType() {
    GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          ZeroTraining training = new ZeroTraining(group, ADAM);
          List<OpType> before = operations(group);
          training.steps(1);
          List<OpType> after = operations(group);
          assertThat(after.subList(before.size(), after.size()))
              .containsExactly(
                  OpType.REDUCE_SCATTER,
                  OpType.REDUCE_SCATTER,
                  OpType.ALL_GATHER,
                  OpType.ALL_GATHER);
          return null;
        });
  }

  @Test
  void aStepOnAveragedGradientsSendsTheValuesOnly() {
    GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          SharedModel model = new SharedModel();
          ZeroRedundancyOptimizer zero =
              ZeroRedundancyOptimizer.create(
                  group,
                  model.parameters(),
                  new AdamOptimizer(ADAM),
                  ZeroOptions.defaults()
                      .withAveragedGradients(i -> model.mean(i, 0, 3, ranks(group))));
          List<OpType> before = operations(group);
          zero.step();
          List<OpType> after = operations(group);
          assertThat(after.subList(before.size(), after.size()))
              .containsExactly(OpType.ALL_GATHER, OpType.ALL_GATHER);
          return null;
        });
  }

  private static List<OpType> operations(ProcessGroup group) {
    return group.flightRecorder().records().stream().map(FlightRecord::opType).toList();
  }

  @Test
  void aParameterWithoutAnAveragedGradientStays() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          float[] used = {1};
          float[] unused = {1};
          ZeroRedundancyOptimizer zero =
              ZeroRedundancyOptimizer.create(
                  group,
                  List.of(
                      Parameter.of("used", Tensor.of(used)),
                      Parameter.of("unused", Tensor.of(unused))),
                  new SgdOptimizer(new SgdOptions(1)),
                  ZeroOptions.defaults().withAveragedGradients(i -> i == 0 ? Tensor.of(3f) : null));
          zero.step();
          assertThat(used).containsExactly(-2);
          assertThat(unused).containsExactly(1);
          return null;
        });
  }

  @Test
  void parametersThatDifferOrCannotBeSharedAreRefusedOnAllRanks() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          Parameter good = Parameter.of("w", Tensor.of(1f, 2f));
          refused(group, good, new Parameter("w", Tensor.of(1f, 2f), null, true), "sparse");
          refused(
              group, good, Parameter.of("w", Tensor.of(1, 2)), "w is int32[2], whose gradients");
          assertThatThrownBy(
                  () ->
                      create(
                          group, group.rank() == 0 ? good : Parameter.of("w", Tensor.of(1d, 2d))))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining(
                  "rank 0 gives parameter w, float32[2], and rank 1 gives parameter w, float64[2]");
          assertThatThrownBy(
                  () -> create(group, group.rank() == 0 ? good : Parameter.of("v", good.value())))
              .isInstanceOf(IllegalArgumentException.class);
          assertThatThrownBy(() -> create(group))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("there is no parameter");
          assertThatThrownBy(() -> create(group, good, good))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("two parameters have the name w");
          assertThatThrownBy(
                  () ->
                      ZeroRedundancyOptimizer.create(
                          group,
                          List.of(good),
                          new AdamOptimizer(ADAM),
                          ZeroOptions.defaults()
                              .withPartition(ZeroPartition.of(new int[] {0, 0}, 2))))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("the partition is of 2 parameters for 2 ranks");
          ZeroOptions averaged = ZeroOptions.defaults().withAveragedGradients(i -> null);
          assertThatThrownBy(
                  () ->
                      ZeroRedundancyOptimizer.create(
                          group,
                          List.of(good),
                          new AdamOptimizer(ADAM),
                          group.rank() == 0 ? averaged : ZeroOptions.defaults()))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("averaged by the optimizer");
          assertThatThrownBy(
                  () ->
                      ZeroRedundancyOptimizer.create(
                          group,
                          group.rank() == 1 ? null : List.of(good),
                          new AdamOptimizer(ADAM),
                          ZeroOptions.defaults()))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("NullPointerException");
          assertThatThrownBy(
                  () ->
                      ZeroRedundancyOptimizer.create(
                          group,
                          List.of(good),
                          group.rank() == 1 ? null : new AdamOptimizer(ADAM),
                          ZeroOptions.defaults()))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("NullPointerException: local");
          assertThatThrownBy(
                  () ->
                      ZeroRedundancyOptimizer.create(
                          group,
                          List.of(good),
                          LocalOptimizer.byParameter(
                              i -> group.rank() == 1 ? null : new AdamOptimizer(ADAM)),
                          ZeroOptions.defaults()))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("parameter 0 has no optimizer");
          assertThat(create(group, good).partition().ranks()).isEqualTo(2);
          return null;
        });
  }

  private static ZeroRedundancyOptimizer create(ProcessGroup group, Parameter... parameters) {
    return ZeroRedundancyOptimizer.create(
        group, List.of(parameters), new AdamOptimizer(ADAM), ZeroOptions.defaults());
  }

  private static void refused(ProcessGroup group, Parameter good, Parameter wrong, String reason) {
    assertThatThrownBy(() -> create(group, group.rank() == 1 ? wrong : good))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(reason);
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "SHM", "TCP"})
  void aLocalOptimizerThatThrowsAbortsTheGroupWithThatAsCause(Paths paths) {
    GroupRuns.run(
        3,
        paths,
        group -> {
          ZeroRedundancyOptimizer zero =
              ZeroRedundancyOptimizer.create(
                  group,
                  List.of(Parameter.of("w", Tensor.of(1f))),
                  new FailingOptimizer(0),
                  ZeroOptions.defaults());
          assertThatThrownBy(zero::step)
              .isInstanceOf(
                  group.rank() == 0 ? IllegalStateException.class : CollectiveException.class)
              .hasMessageContaining("no step for parameter 0");
          return null;
        });
  }

  @Test
  void aGroupWhoseRanksChangeIsRefused() {
    try (HashStore store = new HashStore();
        ReconfigurableGroup group =
            ProcessGroups.reconfigurable(store, 0, 1, GroupOptions.defaults().withName("run"))) {
      group.reconfigure(1, List.of(group.handle()));
      assertThatThrownBy(() -> new ZeroTraining(group, ADAM))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("takes its shard of the state along");
    }
  }
}
