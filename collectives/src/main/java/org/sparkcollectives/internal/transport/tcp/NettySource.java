package org.sparkcollectives.internal.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.transport.ByteSource;
import org.sparkcollectives.internal.transport.ConnectionListener;

/**
 * Keeps what a channel receives until the rank's own thread reads it; stops receiving while more
 * than 4 MiB are unread, each connection for itself.
 *
 * <p>The event loop puts buffers in, one thread takes them out, and {@link #close} may come from a
 * third: it marks the source closed and then empties the queue, and the event loop empties it again
 * when it put something in afterwards, so that no buffer stays.
 */
final class NettySource extends ChannelInboundHandlerAdapter implements ByteSource {

  private static final int STOP_BYTES = 4 * 1024 * 1024;
  private static final int GO_ON_BYTES = 1024 * 1024;

  private final Channel channel;
  private final ConnectionListener listener;
  private final MessageBoundaries boundaries = new MessageBoundaries();
  private final Queue<ByteBuf> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger queuedBytes = new AtomicInteger();
  private volatile boolean closed;
  private boolean broken;

  NettySource(Channel channel, ConnectionListener listener) {
    this.channel = channel;
    this.listener = listener;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf received = (ByteBuf) message;
    try {
      boundaries.follow(received);
    } catch (TransportException e) {
      received.release();
      breakOff(e.getMessage(), e);
      return;
    }
    if (boundaries.ended()) {
      // The announcement of the end is not for the reader.
      int end = Math.max(received.readerIndex(), received.writerIndex() - MessageHeader.BYTES);
      received.writerIndex(end);
    }
    if (closed || !received.isReadable()) {
      received.release();
      return;
    }
    put(context, received);
  }

  private void put(ChannelHandlerContext context, ByteBuf received) {
    ByteBuf direct = received;
    if (!received.isDirect()) {
      // Some TLS engines decrypt to the heap.
      direct = context.alloc().directBuffer(received.readableBytes()).writeBytes(received);
      received.release();
    }
    int bytes = queuedBytes.addAndGet(direct.readableBytes());
    queue.add(direct);
    if (bytes > STOP_BYTES) {
      channel.config().setAutoRead(false);
      goOnIfRoom();
    }
    if (closed) {
      releaseAll();
    }
    listener.received();
  }

  @Override
  public boolean hasBytes() {
    return !queue.isEmpty();
  }

  @Override
  public boolean read(Reader reader) {
    ByteBuf next = queue.peek();
    if (next == null) {
      return false;
    }
    ByteBuffer bytes = next.nioBuffer().order(ByteOrder.nativeOrder());
    int before = bytes.remaining();
    reader.read(bytes);
    int taken = before - bytes.remaining();
    next.skipBytes(taken);
    queuedBytes.addAndGet(-taken);
    if (!next.isReadable() && queue.remove(next)) {
      next.release();
    }
    goOnIfRoom();
    return true;
  }

  private void goOnIfRoom() {
    if (queuedBytes.get() < GO_ON_BYTES && !channel.config().isAutoRead()) {
      channel.config().setAutoRead(true);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    if (closed || broken) {
      return;
    }
    if (boundaries.ended()) {
      listener.finished(boundaries.lastCollective());
    } else {
      breakOff("the connection was lost " + boundaries.describe(), null);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    breakOff(cause + ", " + boundaries.describe(), cause);
  }

  private void breakOff(String how, Throwable cause) {
    if (!closed && !broken) {
      broken = true;
      listener.broken(new IOException(how, cause));
    }
    channel.close();
  }

  @Override
  public void close() {
    closed = true;
    releaseAll();
  }

  private void releaseAll() {
    for (ByteBuf left = queue.poll(); left != null; left = queue.poll()) {
      left.release();
    }
  }
}
