package org.sparkcollectives.internal.transport.tcp;

import io.netty.channel.Channel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * A channel whose socket the thread of a collective may use itself, beside Netty's event loop: the
 * loop connects, shakes hands and closes, the thread moves the messages.
 */
final class DirectSocketChannel extends NioSocketChannel {

  /** Creates a channel that is to connect. */
  DirectSocketChannel() {}

  /** Creates a channel that was accepted. */
  DirectSocketChannel(Channel parent, SocketChannel socket) {
    super(parent, socket);
  }

  /** Returns the socket, which does not block. */
  SocketChannel directSocket() {
    return javaChannel();
  }
}
