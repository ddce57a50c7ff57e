package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

@ExtendWith(LeakCheck.class)
class PostLocalSgdTest {

  /** Reduces the square of the rank, in a step of two buckets. */
  private static float step(CommHook hook, ProcessGroup group, double divisor) throws Exception {
    float first = one(hook, group, divisor, 0);
    assertThat(one(hook, group, divisor, 1)).isEqualTo(first);
    return first;
  }

  private static float one(CommHook hook, ProcessGroup group, double divisor, int index)
      throws Exception {
    Tensor buffer = Tensor.of((float) group.rank() * group.rank());
    GivenBucket bucket = new GivenBucket(group, buffer).withIndex(index, 2).withDivisor(divisor);
    return ((float[]) hook.run(bucket).get(30, TimeUnit.SECONDS).array())[0];
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "TCP", "MIXED"})
  void gradientsAreAveragedOverAllAndThenInTheSubgroup(Paths paths) {
    GroupRuns.run(
        4,
        paths,
        group -> {
          try (ProcessGroup pair = group.newSubgroups(2)) {
            PostLocalSgd hook = new PostLocalSgd(pair, 2, true);
            assertThat(step(hook, group, 4)).isEqualTo(3.5f);
            assertThat(step(hook, group, 4)).isEqualTo(3.5f);
            assertThat(hook.step()).isEqualTo(2);
            float local = group.rank() < 2 ? 0.5f : 6.5f;
            assertThat(step(hook, group, 4)).isEqualTo(local);
            assertThat(step(hook, group, 2)).isEqualTo(2 * local);
            hook.setStep(1);
            assertThat(step(hook, group, 4)).isEqualTo(3.5f);
            assertThat(step(hook, group, 4)).isEqualTo(local);
          }
          return null;
        });
  }

  @Test
  void withoutAnAverageEachRankKeepsItsOwn() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          PostLocalSgd hook = new PostLocalSgd(null, 1, false);
          assertThat(step(hook, group, 2)).isEqualTo(0.5f);
          assertThat(step(hook, group, 2)).isEqualTo(group.rank());
          return null;
        });
  }

  @Test
  void ranksWithOtherSettingsAllThrowInTheFirstStep() {
    GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          boolean other = group.rank() == 2;
          PostLocalSgd late = new PostLocalSgd(null, other ? 3 : 2, false);
          assertThatThrownBy(() -> step(late, group, 3))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("rank 0 gives start 2, and rank 2 gives start 3");
          PostLocalSgd averaging = new PostLocalSgd(group, 2, !other);
          assertThatThrownBy(() -> step(averaging, group, 3))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining(
                  "AllReduce true, and rank 2 gives postLocalGradientAllReduce false");
          PostLocalSgd restored = new PostLocalSgd(group, 2, true);
          restored.setStep(other ? 5 : 4);
          assertThatThrownBy(() -> step(restored, group, 3))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining(
                  "the number of steps 4, and rank 2 gives the number of steps 5");
          return null;
        });
  }

  @Test
  void whatCannotWorkIsRefused() {
    assertThatThrownBy(() -> new PostLocalSgd(null, 1, true))
        .isInstanceOf(NullPointerException.class)
        .hasMessageContaining("newLocalGroup");
    assertThatThrownBy(() -> new PostLocalSgd(null, -1, false))
        .isInstanceOf(IllegalArgumentException.class);
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          try (ProcessGroup alone = group.split(group.rank(), 0)) {
            PostLocalSgd hook = new PostLocalSgd(group, 0, true);
            assertThatThrownBy(() -> step(hook, alone, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("[0, 1]")
                .hasMessageContaining("[" + group.rank() + "]");
            assertThatThrownBy(() -> hook.setStep(-1)).isInstanceOf(IllegalArgumentException.class);
          }
          return null;
        });
  }
}
