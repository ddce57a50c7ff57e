package org.sparkcollectives.internal.liveness;

import java.time.Duration;

/**
 * The interval of heartbeats, and the time without one after which a JVM is unresponsive.
 *
 * @param interval the time between two heartbeats; a fifth of the timeout at the most, so that a
 *     single one that is late or lost does not count
 * @param timeout how long after its last sign of progress a JVM is found unresponsive, at the
 *     latest; 0 for never
 */
public record HeartbeatOptions(Duration interval, Duration timeout) {

  /** Creates options; reduces {@code interval} to a fifth of the timeout if it is longer. */
  public HeartbeatOptions {
    Duration longest = timeout.dividedBy(5);
    interval = interval.compareTo(longest) > 0 ? longest : interval;
  }

  /** Returns whether there are heartbeats at all. */
  public boolean isOn() {
    return !interval.isZero();
  }

  /**
   * Returns how long an observer sees no new heartbeat before it reports that. It is less than the
   * timeout, because the observer checks once in an interval, and may have seen the last heartbeat
   * an interval after it was sent.
   */
  Duration patience() {
    return timeout.minus(interval.multipliedBy(2));
  }

  /** Returns how much of the time between two checks counts. */
  Duration longestStep() {
    return interval.multipliedBy(2);
  }
}
