package org.sparkcollectives.internal.transport.tcp;

import java.nio.channels.SocketChannel;

/** What a thread that waits would like to do with a socket. */
interface SocketInterest {

  /** Returns the socket. */
  SocketChannel socket();

  /**
   * Returns the operations of {@link java.nio.channels.SelectionKey} for which it waits now; 0 for
   * none.
   */
  int operations();
}
