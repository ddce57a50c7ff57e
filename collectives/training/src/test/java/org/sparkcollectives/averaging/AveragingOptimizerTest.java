package org.sparkcollectives.averaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.Paths;
import org.sparkcollectives.zero.LocalOptimizer;
import org.sparkcollectives.zero.SgdOptimizer;
import org.sparkcollectives.zero.SgdOptions;

/** Tests local steps with an average now and then. */
class AveragingOptimizerTest {

  private static final SgdOptions SGD = new SgdOptions(1).withMomentum(0.5);

  private static AveragingOptimizer optimizer(ProcessGroup group, float[]... values) {
    return new AveragingOptimizer(
        new SgdOptimizer(SGD),
        new PeriodicModelAverager(group, 2, 1),
        Arrays.stream(values).map(Tensor::of).toList());
  }

  private static boolean step(AveragingOptimizer optimizer, float gradient) {
    return optimizer.step(Arrays.asList(Tensor.of(gradient), null));
  }

  @Test
  void stepsAreLocalAndParametersWithAGradientAreAveragedWhenItIsTime() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          float[] used = {0};
          float[] unused = {group.rank()};
          AveragingOptimizer optimizer = optimizer(group, used, unused);
          assertThat(step(optimizer, -group.rank())).isFalse();
          assertThat(used).containsExactly(group.rank());
          assertThat(step(optimizer, -group.rank())).isTrue();
          assertThat(used).as("the mean of 0 and 1 + 1.5").containsExactly(1.25f);
          assertThat(unused).containsExactly(group.rank());
          return null;
        });
  }

  @Test
  void theStateHasTheCountOfStepsAndTrainingGoesOnAsIfItHadNotStopped() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          float[] whole = {0};
          AveragingOptimizer uninterrupted = optimizer(group, whole, new float[1]);
          float[] parts = {0};
          AveragingOptimizer first = optimizer(group, parts, new float[1]);
          for (int step = 0; step < 3; step++) {
            step(uninterrupted, group.rank() + step);
            step(first, group.rank() + step);
          }
          Map<String, Tensor> state = first.state();
          assertThat(state).containsOnlyKeys("step", "0.momentum");
          AveragingOptimizer second = optimizer(group, parts, new float[1]);
          second.restore(state);
          for (int step = 3; step < 6; step++) {
            assertThat(step(second, group.rank() + step))
                .isEqualTo(step(uninterrupted, group.rank() + step));
            assertThat(parts).isEqualTo(whole);
          }
          return null;
        });
  }

  @Test
  void aStateWithoutACountAndTooFewGradientsAreRefused() {
    GroupRuns.run(
        1,
        Paths.HEAP,
        group -> {
          AveragingOptimizer optimizer = optimizer(group, new float[1], new float[1]);
          assertThatThrownBy(() -> optimizer.restore(Map.of()))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("the averager's step, one int64, and has none");
          assertThatThrownBy(() -> optimizer.restore(Map.of("step", Tensor.of(1f))))
              .isInstanceOf(IllegalArgumentException.class);
          assertThatThrownBy(() -> optimizer.step(List.of(Tensor.of(1f))))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("1 gradients are given for 2 parameters");
          return null;
        });
  }

  @Test
  void aLocalOptimizerThatThrowsAbortsTheGroupsWithThatAsCause() {
    GroupRuns.run(
        4,
        Paths.HEAP,
        group -> {
          SortedMap<Long, Integer> sizes = new TreeMap<>(Map.of(1L, 2, 2L, 4));
          try (HierarchicalModelAverager averager =
              HierarchicalModelAverager.create(group, sizes, 1)) {
            throwsOnRankOne(group, averager);
          }
          return null;
        });
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          throwsOnRankOne(group, new PeriodicModelAverager(group, 2, 0));
          return null;
        });
  }

  private static void throwsOnRankOne(ProcessGroup group, ModelAverager averager) {
    SgdOptimizer sgd = new SgdOptimizer(SGD);
    LocalOptimizer local =
        new LocalOptimizer() {
          @Override
          public void step(int parameter, Tensor value, Tensor gradient) {
            if (group.rank() == 1) {
              throw new IllegalStateException("no step for parameter " + parameter);
            }
            sgd.step(parameter, value, gradient);
          }

          @Override
          public Map<String, Tensor> state(int parameter) {
            return sgd.state(parameter);
          }

          @Override
          public void restore(int parameter, Map<String, Tensor> state) {
            sgd.restore(parameter, state);
          }
        };
    AveragingOptimizer optimizer = new AveragingOptimizer(local, averager, List.of(Tensor.of(1f)));
    assertThatThrownBy(
            () -> {
              for (int step = 0; step < 4; step++) {
                optimizer.step(List.of(Tensor.of(1f)));
              }
            })
        .isInstanceOf(group.rank() == 1 ? IllegalStateException.class : PeerFailedException.class)
        .hasMessageContaining("no step for parameter 0");
  }
}
