package org.sparkcollectives.internal.failure;

import java.time.Duration;

/**
 * Measures for how long something has shown no change, counting only the time in which one has
 * really looked.
 *
 * <p>A thread that was itself stopped (by a signal, the garbage collector, a busy machine) finds on
 * its next look that much time has gone by, in which it saw nothing because it did not look. So of
 * the time between two looks no more than a step counts, and silence is the sum of many looks.
 *
 * <p>Not thread-safe.
 */
final class SilenceClock {

  private final long longestStepNanos;
  private boolean started;
  private long lastValue;
  private long lastNanos;
  private long silentNanos;

  /** Creates a clock with the most that the time between two looks counts. */
  SilenceClock(Duration longestStep) {
    this.longestStepNanos = longestStep.toNanos();
  }

  /**
   * Looks.
   *
   * @param value what changes while something lives
   * @param nowNanos the time at which {@code value} was known
   * @return for how long it has not changed
   */
  Duration observe(long value, long nowNanos) {
    if (started && value == lastValue) {
      silentNanos += Math.min(nowNanos - lastNanos, longestStepNanos);
    } else {
      silentNanos = 0;
    }
    started = true;
    lastValue = value;
    lastNanos = nowNanos;
    return Duration.ofNanos(silentNanos);
  }
}
