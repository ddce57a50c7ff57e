package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the pauses of a thread that polls. */
final class BackoffTest {

  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  @AfterEach
  void clearTheFlag() {
    Thread.interrupted();
  }

  private static long nanosOf(Runnable wait) {
    long start = System.nanoTime();
    wait.run();
    return System.nanoTime() - start;
  }

  private static void pause(Backoff backoff, int times) {
    for (int i = 0; i < times; i++) {
      backoff.pause();
    }
  }

  @Test
  void aThreadThatWasInterruptedDoesNotSpinAndStaysInterrupted() {
    Thread.currentThread().interrupt();
    // A park may end early for no reason, but hardly ten times out of twenty.
    assertThat(nanosOf(() -> pause(Backoff.every(MILLI), 20))).isGreaterThan(10 * MILLI);
    assertThat(Thread.currentThread().isInterrupted()).isTrue();
  }

  @Test
  void pausesGrowToTheLongest() {
    // 1, 2, 4, 8, 8 and 8 ms.
    assertThat(nanosOf(() -> pause(Backoff.between(MILLI, 8 * MILLI), 6)))
        .isGreaterThan(15 * MILLI);
  }

  @Test
  void aWaitEndsWithItsConditionOrItsDeadline() {
    AtomicInteger looks = new AtomicInteger();
    Deadline far = Deadline.after(Duration.ofHours(1));
    assertThat(Backoff.every(MILLI).until(() -> looks.incrementAndGet() == 3, far)).isTrue();
    assertThat(looks).hasValue(3);
    Deadline near = Deadline.after(Duration.ofMillis(5));
    assertThat(Backoff.every(MILLI).until(() -> false, near)).isFalse();
    assertThat(near.isOver()).isTrue();
  }

  @Test
  void aConditionThatHoldsIsSeenEvenAfterTheDeadline() {
    Deadline over = Deadline.after(Duration.ZERO);
    assertThat(Backoff.every(MILLI).until(() -> true, over)).isTrue();
  }
}
