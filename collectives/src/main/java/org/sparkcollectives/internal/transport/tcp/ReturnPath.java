package org.sparkcollectives.internal.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.spi.failure.MismatchCodec;

/**
 * Reads what comes back on a connection that messages go out on: one byte that says how the
 * receiver ends it, with the number of its last collective, or for a refusal the reason.
 */
final class ReturnPath extends SimpleChannelInboundHandler<ByteBuf> {

  private static final byte END = 2;
  private static final byte REFUSAL = 3;
  private static final int MAX_REASON_BYTES = 4096;

  private final ConnectionListener listener;
  private final ByteBuf received = Unpooled.buffer(0, MAX_REASON_BYTES);
  private boolean closed;

  ReturnPath(ConnectionListener listener) {
    this.listener = listener;
  }

  /** Reports to the sender that the receiver leaves, and closes the connection. */
  static void end(Channel channel, long lastCollective) {
    channel
        .writeAndFlush(Unpooled.buffer(1 + Long.BYTES).writeByte(END).writeLong(lastCollective))
        .addListener(ChannelFutureListener.CLOSE);
  }

  /** Reports to the sender why its message is refused, and closes the connection. */
  static void refuse(Channel channel, CollectiveMismatchException why) {
    byte[] reason = MismatchCodec.encode(why);
    int length = Math.min(reason.length, MAX_REASON_BYTES - 1);
    ByteBuf refusal = Unpooled.buffer(1 + length).writeByte(REFUSAL).writeBytes(reason, 0, length);
    channel.writeAndFlush(refusal).addListener(ChannelFutureListener.CLOSE);
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
    received.writeBytes(bytes, Math.min(bytes.readableBytes(), received.maxWritableBytes()));
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    if (closed) {
      return;
    }
    byte kind = received.isReadable() ? received.readByte() : 0;
    if (kind == END && received.readableBytes() == Long.BYTES) {
      listener.finished(received.readLong());
    } else if (kind == REFUSAL) {
      refused();
    } else {
      listener.broken(new IOException("the connection was lost"));
    }
  }

  private void refused() {
    byte[] why = new byte[received.readableBytes()];
    received.readBytes(why);
    CollectiveMismatchException mismatch;
    try {
      mismatch = MismatchCodec.decodeMismatch(why);
    } catch (UncheckedIOException e) {
      listener.broken(
          new IOException("the peer refused a message, and did not say why: " + e.getMessage()));
      return;
    }
    listener.refused(mismatch);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (!closed && received.readableBytes() == 0) {
      closed = true;
      listener.broken(new IOException(cause.toString(), cause));
    }
    context.close();
  }
}
