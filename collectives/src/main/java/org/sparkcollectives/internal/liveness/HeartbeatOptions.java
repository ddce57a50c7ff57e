package org.sparkcollectives.internal.liveness;

import java.time.Duration;

/**
 * The time without a heartbeat after which a JVM is unresponsive, and what follows from it.
 *
 * @param timeout how long after its last sign of progress a JVM is found unresponsive, at the
 *     latest; 0 for never
 */
public record HeartbeatOptions(Duration timeout) {

  /**
   * Returns the time between two heartbeats: a tenth of the timeout, so that a few that are late or
   * lost do not count.
   */
  public Duration interval() {
    return timeout.dividedBy(10);
  }

  /** Returns whether there are heartbeats at all. */
  public boolean isOn() {
    return !timeout.isZero();
  }

  /**
   * Returns how long an observer sees no new heartbeat before it reports that. It is less than the
   * timeout, because the observer checks once in an interval, and may have seen the last heartbeat
   * an interval after it was sent.
   */
  Duration patience() {
    return timeout.minus(interval().multipliedBy(2));
  }

  /** Returns how much of the time between two checks counts. */
  Duration longestStep() {
    return interval().multipliedBy(2);
  }
}
