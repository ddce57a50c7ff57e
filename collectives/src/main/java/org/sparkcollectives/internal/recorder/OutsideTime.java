package org.sparkcollectives.internal.recorder;

/**
 * Adds up how long a rank is outside of the operations of all its groups: so a rank that waits in
 * one group is not taken for slow in another. Thread-safe.
 *
 * <p>A rank with one group needs none of this, and does not pay for it.
 */
final class OutsideTime {

  private volatile boolean shared;
  private boolean any;
  private long lastEnd;
  private long outsideNanos;

  /** Notes that the rank has more than one group. */
  void share() {
    shared = true;
  }

  /** Returns whether the rank has, or had, more than one group. */
  boolean isShared() {
    return shared;
  }

  /**
   * Adds an operation that has ended, and returns the time outside up to now.
   *
   * @param createdNanos when it was called
   */
  synchronized long add(long createdNanos, long endedNanos) {
    if (!any) {
      any = true;
      lastEnd = createdNanos;
    }
    outsideNanos += Math.max(0, createdNanos - lastEnd);
    lastEnd = Math.max(lastEnd, endedNanos);
    return outsideNanos;
  }
}
