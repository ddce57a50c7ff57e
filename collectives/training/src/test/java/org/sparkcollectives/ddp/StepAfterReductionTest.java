package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests the hook that updates the parameters of a bucket as soon as it is reduced. */
@ExtendWith(LeakCheck.class)
class StepAfterReductionTest {

  private static Tensor run(CommHook hook, GradientBucket bucket) throws Exception {
    return hook.run(bucket).get(30, TimeUnit.SECONDS);
  }

  private static float[] floats(Tensor tensor) {
    float[] values = new float[(int) tensor.count()];
    tensor.copyTo(values);
    return values;
  }

  @Test
  void parametersAreUpdatedOnceTheirBucketIsReduced() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          float[] first = {10, 20};
          float[] second = {30};
          CommHook hook =
              CommHooks.thenStep(
                  CommHooks.allReduce(),
                  parameter -> parameter != 4,
                  (parameter, value, gradient) -> {
                    assertThat(parameter).isEqualTo(3);
                    assertThat(gradient.shape()).containsExactly(1, 2);
                    float[] values = floats(value);
                    float[] gradients = floats(gradient);
                    for (int i = 0; i < values.length; i++) {
                      values[i] -= gradients[i];
                    }
                    value.copyFrom(values);
                  });
          float own = group.rank();
          GradientBucket bucket =
              new GivenBucket(
                      group, Tensor.of(own, 2 * own, 3 * own), new long[] {1, 2}, new long[] {1})
                  .withFirstParameter(3)
                  .withValues(Tensor.of(first), Tensor.of(second));
          assertThat(floats(run(hook, bucket))).containsExactly(0.5f, 1, 1.5f);
          assertThat(first).containsExactly(9.5f, 19);
          assertThat(second).containsExactly(30);
          return null;
        });
  }

  @Test
  void theExceptionOfAStepAndOfAReductionComeThrough() {
    GroupRuns.run(
        1,
        Paths.HEAP,
        group -> {
          GradientBucket bucket = new GivenBucket(group, Tensor.of(1f)).withValues(Tensor.of(1f));
          RuntimeException boom = new IllegalStateException("boom");
          CommHook throwing =
              CommHooks.thenStep(
                  CommHooks.noop(),
                  (parameter, value, gradient) -> {
                    throw boom;
                  });
          assertThatThrownBy(() -> run(throwing, bucket)).isSameAs(boom);
          CommHook failing =
              CommHooks.thenStep(
                  each -> CompletableFuture.failedFuture(boom), (i, value, gradient) -> {});
          assertThatThrownBy(() -> run(failing, bucket)).isSameAs(boom);
          CommHook checked =
              CommHooks.thenStep(
                  each -> CompletableFuture.failedFuture(new Exception("checked")),
                  (i, value, gradient) -> {});
          assertThatThrownBy(() -> run(checked, bucket))
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("rank 0")
              .hasRootCauseMessage("checked");
          CommHook never =
              CommHooks.thenStep(each -> new CompletableFuture<>(), (i, value, gradient) -> {});
          GradientBucket impatient =
              new GivenBucket(group.withTimeout(Duration.ofMillis(20)), Tensor.of(1f))
                  .withValues(Tensor.of(1f));
          assertThatThrownBy(() -> run(never, impatient))
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("was not done within PT0.04S");
          return null;
        });
  }
}
