package org.sparkcollectives.internal.transport.tcp;

import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.List;

/** Accepts {@link DirectSocketChannel}s. */
final class DirectServerSocketChannel extends NioServerSocketChannel {

  private final SegmentPool segments;

  /** Creates a channel; the messages of those that it accepts go through {@code segments}. */
  DirectServerSocketChannel(SegmentPool segments) {
    this.segments = segments;
  }

  @Override
  protected int doReadMessages(List<Object> accepted) throws IOException {
    SocketChannel socket = javaChannel().accept();
    if (socket == null) {
      return 0;
    }
    boolean added = false;
    try {
      added = accepted.add(new DirectSocketChannel(this, socket, segments));
    } finally {
      if (!added) {
        socket.close();
      }
    }
    return 1;
  }
}
