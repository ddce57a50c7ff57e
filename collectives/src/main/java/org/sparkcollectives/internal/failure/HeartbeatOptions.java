package org.sparkcollectives.internal.failure;

import java.time.Duration;

/**
 * How often a JVM gives a sign of life, and how long it may give none.
 *
 * @param interval the time between two signs; a fifth of the timeout at the most, so that a single
 *     one that is late or lost does not count
 * @param timeout how long after its last act a JVM is found silent, at the latest; 0 for never
 */
public record HeartbeatOptions(Duration interval, Duration timeout) {

  /** Of which {@code interval} may be longer than it will be. */
  public HeartbeatOptions {
    Duration longest = timeout.dividedBy(5);
    interval = interval.compareTo(longest) > 0 ? longest : interval;
  }

  /** Whether there are signs of life at all. */
  public boolean isOn() {
    return !interval.isZero();
  }

  /**
   * How long an observer sees no new sign before it says so: less than the timeout, as it may have
   * seen the last sign an interval after it was given, and looks once in an interval.
   */
  Duration patience() {
    return timeout.minus(interval.multipliedBy(2));
  }

  /** How much of the time between two looks counts. */
  Duration longestStep() {
    return interval.multipliedBy(2);
  }
}
