package org.sparkcollectives.internal.transport;

import org.sparkcollectives.CollectiveMismatchException;

/**
 * Hears what becomes of the connections to a peer, whatever they carry.
 *
 * <p>Of one connection the first end is the only one. Calls come from an event loop and from the
 * thread that runs an operation; they must neither block nor throw. None comes once this side has
 * closed the connection.
 */
public interface ConnectionListener {

  /** Hears that there is something to read. */
  default void received() {}

  /**
   * Hears that the peer has closed its group in good order; nothing that it sent before was lost.
   *
   * @param lastCollective the number of the last collective that it called, -1 for none
   */
  void finished(long lastCollective);

  /** Hears that the peer would not take a message of ours, because it called something else. */
  default void refused(CollectiveMismatchException why) {
    broken(why);
  }

  /**
   * Hears that the connection broke, also while nobody used it, that it carried what it should not,
   * or that it could not be made.
   */
  void broken(Throwable cause);
}
