package org.sparkcollectives.internal.transport;

/**
 * Memory that another process changes. Who waits for it says there when it sleeps, and is woken by
 * that process.
 */
public interface PolledMemory {

  /** Returns whether a thread waits for it now. */
  boolean isAwaited();

  /**
   * Announces to those who change the memory that the waiting thread is about to sleep.
   *
   * @return whether that is news: the thread then looks once more before it sleeps
   */
  boolean announceSleep();

  /** Withdraws {@link #announceSleep}. */
  void retractSleep();
}
