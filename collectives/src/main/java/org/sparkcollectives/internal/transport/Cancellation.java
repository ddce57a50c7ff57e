package org.sparkcollectives.internal.transport;

/** Ends the wait of a thread for its peers when there is no point in waiting any longer. */
public interface Cancellation {

  /**
   * Returns if the group lives; throws what ended it otherwise. Cheap: one volatile read.
   *
   * <p>Deadlines arrive this way too: the watchdog ends the group of an operation that is overdue.
   */
  void check();

  /** Reports that the waiting thread was interrupted, which ends the group. Does not block. */
  void interrupted();
}
