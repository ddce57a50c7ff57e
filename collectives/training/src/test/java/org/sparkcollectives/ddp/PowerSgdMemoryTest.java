package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.sparkcollectives.ddp.PowerSgdSteps.COUNT;
import static org.sparkcollectives.ddp.PowerSgdSteps.EARLY;
import static org.sparkcollectives.ddp.PowerSgdSteps.random;
import static org.sparkcollectives.ddp.PowerSgdSteps.reduce;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests what PowerSGD keeps from step to step. */
@ExtendWith(LeakCheck.class)
class PowerSgdMemoryTest {

  /** Returns numbers that a type can hold. */
  private static float[] rounded(int rank, long step, DType type) {
    float[] values = random(rank, step, COUNT);
    FloatElements.round(values, COUNT, type);
    return values;
  }

  private static float[] mean(int ranks, long step, DType type, double[] weights, double divisor) {
    float[] mean = new float[COUNT];
    for (int rank = 0; rank < ranks; rank++) {
      float[] own = rounded(rank, step, type);
      for (int i = 0; i < COUNT; i++) {
        mean[i] += (float) (own[i] * weights[rank] / divisor);
      }
    }
    return mean;
  }

  private static void add(float[] sum, float[] values, double factor) {
    for (int i = 0; i < sum.length; i++) {
      sum[i] += (float) (values[i] * factor);
    }
  }

  /** Adds this rank's part of what is left out to sums in the bucket's order. */
  private static void addErrors(float[] sum, Map<String, Tensor> state) {
    int[] offsets = {0, -1, 53};
    for (int parameter : new int[] {0, 2}) {
      float[] error = (float[]) state.get("parameter " + parameter + "/error").array();
      double[] divisor = (double[]) state.get("parameter " + parameter + "/divisor").array();
      for (int i = 0; i < error.length; i++) {
        sum[offsets[parameter] + i] += (float) (error[i] / divisor[0]);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "TCP"})
  void whatAllStepsGiveAndWhatIsLeftAddUpToTheMeans(Paths paths) {
    for (DType type : List.of(DType.FLOAT32, DType.FLOAT64)) {
      assertConserved(paths, type, false, 1e-4f);
    }
    assertConserved(paths, DType.FLOAT16, false, 0.01f);
    assertConserved(paths, DType.BFLOAT16, false, 0.1f);
  }

  /** Each step has other rows, of which the mean is made. */
  @Test
  void itDoesSoWhenTheDivisorChanges() {
    assertConserved(Paths.HEAP, DType.FLOAT32, true, 1e-4f);
  }

  /** The vector is not compressed: of halves, each of its means is rounded. */
  private static void assertConserved(Paths paths, DType type, boolean rows, float ofVector) {
    int ranks = 3;
    int steps = 12;
    List<float[]> totals =
        GroupRuns.run(
            ranks,
            paths,
            group -> {
              PowerSgd hook = new PowerSgd(EARLY);
              float[] total = new float[COUNT];
              for (int step = 0; step < steps; step++) {
                double[] weights = weights(rows, step);
                float[] own = rounded(group.rank(), step, type);
                for (int i = 0; i < own.length; i++) {
                  own[i] *= (float) weights[group.rank()];
                }
                double divisor = weights[0] + weights[1] + weights[2];
                float[] reduced = reduce(hook, group, type, own, divisor);
                if (step >= EARLY.start()) {
                  add(total, reduced, 1.0 / ranks);
                }
              }
              addErrors(total, hook.state());
              return total;
            });
    float[] expected = new float[COUNT];
    for (int step = (int) EARLY.start(); step < steps; step++) {
      double[] weights = weights(rows, step);
      add(expected, mean(ranks, step, type, weights, weights[0] + weights[1] + weights[2]), 1);
    }
    float[] total = new float[COUNT];
    totals.forEach(each -> add(total, each, 1));
    for (int i = 0; i < COUNT; i++) {
      float tolerance = i >= 48 && i < 53 ? ofVector : 1e-4f;
      assertThat(total[i]).as("%s [%d]", type, i).isCloseTo(expected[i], within(tolerance));
    }
  }

  private static double[] weights(boolean rows, int step) {
    return rows ? new double[] {1 + step % 3, 2, 5 - step % 4} : new double[] {1, 1, 1};
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aMatrixThatWasZeroInAStepIsSentInTheNextOnes(boolean batched) {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          PowerSgd hook = new PowerSgd(EARLY.withBatched(batched));
          float[] column = {1, 2, 3, 4, 5, 6};
          float[] matrix = new float[48];
          for (int i = 0; i < 48; i++) {
            matrix[i] = column[i % 6] * (1 + i / 6);
          }
          for (int step = 0; step < 4; step++) {
            float[] zeros = new float[48];
            assertThat(reduce(hook, new GivenBucket(group, Tensor.of(zeros), new long[] {8, 6})))
                .containsOnly(0);
          }
          float[] sum = new float[48];
          for (int step = 0; step < 30; step++) {
            GradientBucket bucket =
                new GivenBucket(group, Tensor.of(matrix.clone()), new long[] {8, 6});
            add(sum, reduce(hook, bucket), 1.0 / 30);
          }
          for (int i = 0; i < 48; i++) {
            assertThat(sum[i]).isCloseTo(matrix[i], within(batched ? 6f : 1e-3f));
          }
          return null;
        });
  }

  @ParameterizedTest
  @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY})
  void whatIsNotFiniteIsSeenInItsStepAndNotRemembered(float bad) {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          PowerSgd hook = new PowerSgd(EARLY);
          for (int step = 0; step < 6; step++) {
            float[] own = random(group.rank(), step, COUNT);
            if (step == 3 && group.rank() == 1) {
              own[7] = bad;
            }
            float[] reduced = reduce(hook, group, DType.FLOAT32, own, 2);
            boolean finite = true;
            for (float each : reduced) {
              finite &= Float.isFinite(each);
            }
            assertThat(finite).as("step %d", step).isEqualTo(step != 3);
          }
          return null;
        });
  }

  @Test
  void ranksWithOtherOptionsAllThrowInTheFirstStep() {
    List<PowerSgdOptions> others =
        List.of(
            EARLY.withRank(2),
            EARLY.withStart(3),
            EARLY.withMinCompressionRate(1.5),
            EARLY.withErrorFeedback(false),
            EARLY.withWarmStart(false),
            EARLY.withEpsilon(1e-8),
            EARLY.withSeed(1),
            EARLY.withBatched(true));
    String[] texts = {
      "rank 0 gives rank 1, and rank 1 gives rank 2",
      "rank 0 gives start 2, and rank 1 gives start 3",
      "rank 0 gives minCompressionRate 2.0, and rank 1 gives minCompressionRate 1.5",
      "rank 0 gives errorFeedback true, and rank 1 gives errorFeedback false",
      "rank 0 gives warmStart true, and rank 1 gives warmStart false",
      "rank 0 gives epsilon 0.0, and rank 1 gives epsilon 1.0E-8",
      "rank 0 gives seed 0, and rank 1 gives seed 1",
      "rank 0 gives batched false, and rank 1 gives batched true"
    };
    GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          for (int i = 0; i < texts.length; i++) {
            PowerSgd hook = new PowerSgd(group.rank() == 1 ? others.get(i) : EARLY);
            assertThatThrownBy(() -> reduce(hook, new GivenBucket(group, Tensor.of(1f))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(texts[i]);
          }
          return null;
        });
  }

  /** One rank has lost a step and a draw, as after a failure that the others noticed later. */
  @Test
  void inTheGroupAfterAFailureTheRanksStartTogether() {
    List<float[]> reduced =
        GroupRuns.run(
            2,
            Paths.HEAP,
            group -> {
              List<float[]> seen = new ArrayList<>();
              PowerSgd hook =
                  new PowerSgd(
                      EARLY.withErrorFeedback(false),
                      (length, columns, draw) -> {
                        float[] numbers = random(7, draw, length * columns);
                        seen.add(numbers);
                        return numbers;
                      });
              for (int step = 0; step < 3; step++) {
                reduce(hook, group, DType.FLOAT32, random(group.rank(), step, COUNT), 2);
              }
              try (ProcessGroup alone = group.split(group.rank(), 0)) {
                if (group.rank() == 1) {
                  reduce(hook, alone, DType.FLOAT32, random(0, 0, COUNT), 1);
                }
              }
              seen.clear();
              try (ProcessGroup next = group.newGroup()) {
                reduce(hook, next, DType.FLOAT32, random(group.rank(), 3, COUNT), 2);
              }
              return seen.get(0);
            });
    assertThat(reduced.get(0)).isEqualTo(reduced.get(1));
  }

  @Test
  void theBatchOfABucketThatHasChangedBeginsAnew() {
    GroupRuns.run(
        1,
        Paths.HEAP,
        group -> {
          PowerSgd hook = new PowerSgd(EARLY.withBatched(true));
          for (int step = 0; step < 3; step++) {
            reduce(hook, group, DType.FLOAT32, random(0, step, COUNT), 1);
          }
          assertThat(hook.state()).containsKey("bucket 0 [0, 1, 2]/error");
          reduce(hook, new GivenBucket(group, Tensor.of(1f, 2f)).withFirstParameter(4));
          assertThat(hook.state().keySet())
              .contains("bucket 0 [4]/error")
              .noneMatch(key -> key.startsWith("bucket 0 [0"));
          reduce(hook, new GivenBucket(group, Tensor.of(new float[0])));
          return null;
        });
  }

  @Test
  void optionsThatCannotWorkAreRefused() {
    assertThatThrownBy(() -> EARLY.withRank(0)).hasMessageContaining("at least 1, not 0");
    assertThatThrownBy(() -> EARLY.withStart(1)).hasMessageContaining("at least 2");
    assertThatThrownBy(() -> EARLY.withErrorFeedback(false).withStart(0))
        .hasMessageContaining("at least 2");
    assertThatThrownBy(() -> EARLY.withMinCompressionRate(0)).hasMessageContaining("not 0.0");
    assertThatThrownBy(() -> EARLY.withEpsilon(Double.NaN)).hasMessageContaining("not NaN");
    PowerSgdOptions memoryless = EARLY.withErrorFeedback(false).withWarmStart(false);
    assertThat(memoryless.withStart(0).start()).isZero();
    assertThatThrownBy(() -> memoryless.withStart(-1)).isInstanceOf(IllegalArgumentException.class);
    assertThat(PowerSgdOptions.defaults())
        .hasToString(
            "{rank=1, start=1000, minCompressionRate=2.0, errorFeedback=true, warmStart=true,"
                + " epsilon=0.0, seed=0, batched=false}");
  }
}
