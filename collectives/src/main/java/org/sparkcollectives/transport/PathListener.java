package org.sparkcollectives.transport;

import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.TransportException;

/**
 * Is told when the paths to a peer end.
 *
 * <p>Of one peer the first report is the only one. Calls come from an event loop and from the
 * thread that runs an operation; they must neither block nor throw. None comes once the lane is
 * closed.
 */
public interface PathListener {

  /** A path broke, also while nobody used it, or could not be made. */
  void broken(int peer, TransportException cause);

  /**
   * The peer has closed its group in good order; nothing that it sent before was lost.
   *
   * @param lastCollective the number of the last collective that it called, -1 for none
   */
  void finished(int peer, long lastCollective);

  /** The peer would not take a message of ours, because it called something else. */
  void refused(int peer, CollectiveMismatchException cause);
}
