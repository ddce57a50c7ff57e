package org.sparkcollectives.internal.transport.tcp;

import java.nio.channels.SocketChannel;

/** The operations of a socket that a waiting thread waits for. */
interface SocketInterest {

  /** Returns the socket. */
  SocketChannel socket();

  /**
   * Returns the operations of {@link java.nio.channels.SelectionKey} for which it waits now; 0 for
   * none.
   */
  int operations();
}
