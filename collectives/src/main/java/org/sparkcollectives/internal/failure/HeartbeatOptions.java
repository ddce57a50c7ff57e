package org.sparkcollectives.internal.failure;

import java.time.Duration;

/**
 * Says how often a JVM sends a heartbeat, and how long it may send none.
 *
 * @param interval the time between two heartbeats; a fifth of the timeout at the most, so that a
 *     single one that is late or lost does not count
 * @param timeout how long after its last act a JVM is found unresponsive, at the latest; 0 for
 *     never
 */
public record HeartbeatOptions(Duration interval, Duration timeout) {

  /** Creates options, of which {@code interval} may be longer than it will be. */
  public HeartbeatOptions {
    Duration longest = timeout.dividedBy(5);
    interval = interval.compareTo(longest) > 0 ? longest : interval;
  }

  /** Returns whether there are heartbeats at all. */
  public boolean isOn() {
    return !interval.isZero();
  }

  /**
   * Returns how long an observer sees no new heartbeat before it says so: less than the timeout, as
   * it may have seen the last one an interval after it was sent, and looks once in an interval.
   */
  Duration patience() {
    return timeout.minus(interval.multipliedBy(2));
  }

  /** Returns how much of the time between two looks counts. */
  Duration longestStep() {
    return interval.multipliedBy(2);
  }
}
