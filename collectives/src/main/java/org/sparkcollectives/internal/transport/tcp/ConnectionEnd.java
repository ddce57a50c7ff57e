package org.sparkcollectives.internal.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.transport.ConnectionListener;

/**
 * Watches a connection that stands for shared memory: nothing comes over it but the announcement of
 * its end, see {@link MessageHeader}. On the connection's event loop, but for {@link #ignore}.
 */
final class ConnectionEnd extends SimpleChannelInboundHandler<ByteBuf> {

  private final ConnectionListener listener;
  private final ByteBuffer announcement = ByteBuffer.allocate(MessageHeader.BYTES);
  private boolean announced;
  private volatile boolean told;

  ConnectionEnd(ConnectionListener listener) {
    this.listener = listener;
  }

  /** Makes the end of the connection no news. */
  void ignore() {
    told = true;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
    while (bytes.isReadable() && announcement.hasRemaining()) {
      announcement.put(bytes.readByte());
    }
    if (bytes.isReadable()) {
      breakOff(context, "it carried more than its end", null);
    } else if (!announcement.hasRemaining()) {
      check(context);
    }
  }

  private void check(ChannelHandlerContext context) {
    try {
      announced = MessageHeader.read(announcement.flip()) == null;
      if (!announced) {
        breakOff(context, "it carried a message that belongs into shared memory", null);
      }
    } catch (TransportException e) {
      breakOff(context, e.getMessage(), e);
    }
    announcement.position(MessageHeader.BYTES);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    if (!announced) {
      breakOff(context, "the connection was lost", null);
    } else if (!told) {
      told = true;
      listener.finished(MessageHeader.lastCollective(announcement));
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    breakOff(context, cause.toString(), cause);
  }

  private void breakOff(ChannelHandlerContext context, String how, Throwable cause) {
    if (!told) {
      told = true;
      listener.broken(new IOException(how, cause));
    }
    context.close();
  }
}
