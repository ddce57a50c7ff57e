package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.sparkcollectives.ddp.PowerSgdSteps.COUNT;
import static org.sparkcollectives.ddp.PowerSgdSteps.EARLY;
import static org.sparkcollectives.ddp.PowerSgdSteps.SHAPES;
import static org.sparkcollectives.ddp.PowerSgdSteps.random;
import static org.sparkcollectives.ddp.PowerSgdSteps.reduce;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests that PowerSGD goes on from what was saved of it. */
@ExtendWith(LeakCheck.class)
class PowerSgdStateTest {

  @ParameterizedTest
  @CsvSource({"false,true", "true,true", "true,false", "false,false"})
  void trainingGoesOnFromASavedStateToTheBit(boolean batched, boolean errorFeedback) {
    PowerSgdOptions options = EARLY.withBatched(batched).withErrorFeedback(errorFeedback);
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          PowerSgd whole = new PowerSgd(options);
          PowerSgd first = new PowerSgd(options);
          for (int step = 0; step < 4; step++) {
            reduce(whole, group, DType.FLOAT32, random(group.rank(), step, COUNT), 2);
            reduce(first, group, DType.FLOAT32, random(group.rank(), step, COUNT), 2);
          }
          PowerSgd second = new PowerSgd(options);
          second.restore(first.state());
          assertThat(second.compressionRate()).isEqualTo(whole.compressionRate()).isGreaterThan(1);
          for (int step = 4; step < 7; step++) {
            float[] own = random(group.rank(), step, COUNT);
            assertThat(reduce(second, group, DType.FLOAT32, own.clone(), 2))
                .isEqualTo(reduce(whole, group, DType.FLOAT32, own.clone(), 2));
          }
          assertThat(second.compressionRate()).isEqualTo(whole.compressionRate());
          assertThatThrownBy(() -> second.restore(first.state()))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("before its first step");
          return null;
        });
  }

  @Test
  void aStateThatOneRankAloneRestoresIsRefusedOnAll() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          PowerSgd saved = new PowerSgd(EARLY);
          reduce(saved, group, DType.FLOAT32, random(group.rank(), 0, COUNT), 2);
          PowerSgd hook = new PowerSgd(EARLY);
          if (group.rank() == 1) {
            hook.restore(saved.state());
          }
          assertThatThrownBy(() -> reduce(hook, new GivenBucket(group, Tensor.of(1f))))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining(
                  "the number of steps 0, and rank 1 gives the number of steps 1");
          return null;
        });
  }

  @Test
  void aStateThatIsNoneIsRefusedAndChangesNothing() {
    GroupRuns.run(
        1,
        Paths.HEAP,
        group -> {
          PowerSgd saved = new PowerSgd(EARLY);
          for (int step = 0; step < 3; step++) {
            reduce(saved, group, DType.FLOAT32, random(0, step, COUNT), 1);
          }
          Map<String, Tensor> state = saved.state();
          PowerSgd hook = new PowerSgd(EARLY);
          Map<String, Tensor> wrong =
              Map.of(
                  "counts", Tensor.of(1L),
                  "parameter 0/shape", Tensor.of(8L, -6L, 1L),
                  "parameter 0/q", Tensor.of(new float[5]),
                  "parameter 2/error", Tensor.of(new double[48]),
                  "else", Tensor.of(1));
          for (String key : wrong.keySet()) {
            Map<String, Tensor> changed = new HashMap<>(state);
            changed.put(key, wrong.get(key));
            assertThatThrownBy(() -> hook.restore(changed))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(key);
            assertThat(hook.state().keySet()).containsExactly("counts");
          }
          Map<String, Tensor> other = new HashMap<>(state);
          other.put("parameter 0/shape", Tensor.of(6L, 8L, 1L));
          other.put("parameter 0/q", Tensor.of(new float[8]));
          hook.restore(other);
          assertThatThrownBy(() -> reduce(hook, group, DType.FLOAT32, random(0, 3, COUNT), 1))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("6 x 8 for parameter 0, whose gradients are 8 x 6");
          return null;
        });
  }

  @Test
  void aStateOfOtherBucketsIsRefusedAndNotForgotten() {
    PowerSgdOptions options = EARLY.withBatched(true);
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          PowerSgd saved = new PowerSgd(options);
          for (int step = 0; step < 3; step++) {
            reduce(saved, group, DType.FLOAT32, random(group.rank(), step, COUNT), 2);
          }
          PowerSgd hook = new PowerSgd(options);
          hook.restore(saved.state());
          Tensor gradients = Tensor.of(random(group.rank(), 3, COUNT));
          assertThatThrownBy(
                  () ->
                      reduce(hook, new GivenBucket(group, gradients, SHAPES).withFirstParameter(1)))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("bucket 0 [0, 1, 2], and now has bucket 0 [1, 2, 3]")
              .hasMessageContaining("withRebuild(false)");
          assertThat(hook.state()).containsKey("bucket 0 [0, 1, 2]/error");
          return null;
        });
  }

  @Test
  void aStateIsContinuedWithAnotherRankOfTheApproximation() {
    GroupRuns.run(
        1,
        Paths.HEAP,
        group -> {
          PowerSgd saved = new PowerSgd(EARLY);
          for (int step = 0; step < 3; step++) {
            reduce(saved, group, DType.FLOAT32, random(0, step, COUNT), 1);
          }
          PowerSgd hook = new PowerSgd(EARLY.withRank(6).withMinCompressionRate(0.1));
          hook.restore(saved.state());
          float[] expected = random(0, 3, COUNT);
          float[] error = (float[]) saved.state().get("parameter 0/error").array();
          float[] reduced = reduce(hook, group, DType.FLOAT32, expected.clone(), 1);
          for (int i = 0; i < 48; i++) {
            assertThat(reduced[i]).isCloseTo(expected[i] + error[i], within(1e-4f));
          }
          return null;
        });
  }
}
