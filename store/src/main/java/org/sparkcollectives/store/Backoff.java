package org.sparkcollectives.store;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The pauses of a thread that polls something that nobody announces: each is twice as long as the
 * one before, up to a limit. For one wait of one thread.
 */
public final class Backoff {

  private final long longest;
  private long next;

  private Backoff(long shortest, long longest) {
    this.next = shortest;
    this.longest = longest;
  }

  /** Begins a wait whose pauses grow from the shortest to the longest, in nanoseconds. */
  public static Backoff between(long shortestNanos, long longestNanos) {
    return new Backoff(shortestNanos, longestNanos);
  }

  /** Begins a wait whose pauses all have this length, in nanoseconds. */
  public static Backoff every(long nanos) {
    return new Backoff(nanos, nanos);
  }

  /**
   * Blocks for one pause; for less if the thread is interrupted or unparked meanwhile. A thread
   * that was interrupted before sleeps all the same, rather than spin to the end of its wait; its
   * interrupt flag is kept, for callers whose wait an interrupt ends.
   */
  public void pause() {
    boolean interrupted = Thread.interrupted();
    long begin = System.nanoTime();
    LockSupport.parkNanos(this, next);
    if (interrupted) {
      // An interrupt also unparks its thread, which ended the first park.
      LockSupport.parkNanos(this, next - (System.nanoTime() - begin));
      Thread.currentThread().interrupt();
    }
    next = Math.min(longest, next * 2);
  }

  /**
   * Blocks until a condition holds, whatever interrupts the thread.
   *
   * @return false if the deadline passed before
   */
  public boolean until(BooleanSupplier condition, Deadline deadline) {
    while (!condition.getAsBoolean()) {
      if (deadline.isOver()) {
        return false;
      }
      pause();
    }
    return true;
  }
}
