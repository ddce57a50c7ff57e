package org.sparkcollectives.internal.transport;

/**
 * Memory that another process changes. Who waits for it says there when it sleeps, and is woken by
 * that process.
 */
public interface PolledMemory {

  /** Returns whether a thread waits for it now. */
  boolean isAwaited();

  /**
   * Says to those who change it that the thread that waits is about to sleep.
   *
   * @return whether that is news: the thread then looks once more before it sleeps
   */
  boolean announceSleep();

  /** Takes back what {@link #announceSleep} has said. */
  void retractSleep();
}
