package org.sparkcollectives.internal.recorder;

/**
 * Adds up how long a rank is outside of the operations of all its groups. So a rank that waits in
 * one group does not seem to be slow in another. Thread-safe.
 */
final class OutsideTime {

  private boolean any;
  private long lastEnd;
  private long outsideNanos;

  /**
   * Adds an operation that has ended.
   *
   * @param createdNanos when it was called
   * @return the time outside, from the first operation of the rank to the call of this one
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
