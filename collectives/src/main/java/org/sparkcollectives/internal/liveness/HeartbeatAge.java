package org.sparkcollectives.internal.liveness;

import java.time.Duration;

/**
 * Measures how old the last heartbeat is, counting only the time in which it was really watched.
 *
 * <p>A thread that was itself stopped (by a signal, the garbage collector, a busy machine) finds on
 * its next look that much time has gone by, in which it saw nothing because it did not look. So of
 * the time between two looks no more than a step counts, and the age is the sum of many looks.
 *
 * <p>Not thread-safe.
 */
final class HeartbeatAge {

  private final long longestStepNanos;
  private boolean started;
  private long lastBeat;
  private long lastNanos;
  private long ageNanos;

  /** Creates the age of a heartbeat, with the most that the time between two looks counts. */
  HeartbeatAge(Duration longestStep) {
    this.longestStepNanos = longestStep.toNanos();
  }

  /**
   * Looks at the heartbeat.
   *
   * @param beat its number, which changes while its sender lives
   * @param nowNanos the time at which {@code beat} was known
   * @return for how long it has not changed
   */
  Duration observe(long beat, long nowNanos) {
    if (started && beat == lastBeat) {
      ageNanos += Math.min(nowNanos - lastNanos, longestStepNanos);
    } else {
      ageNanos = 0;
    }
    started = true;
    lastBeat = beat;
    lastNanos = nowNanos;
    return Duration.ofNanos(ageNanos);
  }
}
