package org.sparkcollectives.internal.transport.tcp;

import io.netty.channel.Channel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * A channel whose socket the thread of a collective may use itself, beside Netty's event loop: the
 * loop connects, shakes hands and closes, the thread moves the messages.
 */
class DirectSocketChannel extends NioSocketChannel {

  private final SegmentPool segments;

  /** Creates a channel that is to connect, whose messages go through {@code segments}. */
  DirectSocketChannel(SegmentPool segments) {
    this.segments = segments;
  }

  /** Creates a channel that was accepted, whose messages go through {@code segments}. */
  DirectSocketChannel(Channel parent, SocketChannel socket, SegmentPool segments) {
    super(parent, socket);
    this.segments = segments;
  }

  /** Returns the socket, which does not block. */
  final SocketChannel directSocket() {
    return javaChannel();
  }

  /** Returns the memory that messages go through. */
  final SegmentPool segments() {
    return segments;
  }
}
