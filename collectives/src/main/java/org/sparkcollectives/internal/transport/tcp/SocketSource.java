package org.sparkcollectives.internal.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.transport.ByteSource;
import org.sparkcollectives.internal.transport.ConnectionListener;

/**
 * Reads a socket on the thread that wants the bytes.
 *
 * <p>Netty's event loop stops reading before the thread begins, and what it had read by then comes
 * first. From then on only the thread looks at the socket: that a peer is gone is noticed when
 * something is expected of it.
 *
 * <p>It reads no further than the message that is wanted, so that what comes after it stays with
 * the operating system, and has memory only while it reads.
 */
final class SocketSource extends ChannelInboundHandlerAdapter
    implements ByteSource, SocketInterest {

  private final DirectSocketChannel channel;
  private final ConnectionListener listener;
  private final Queue<ByteBuf> early = new ConcurrentLinkedQueue<>();

  /** The segment that has unread bytes, or null. */
  private SegmentPool.Segment received;

  private boolean wanted;
  private volatile boolean ended;
  private volatile boolean handedOver;

  SocketSource(DirectSocketChannel channel, ConnectionListener listener) {
    this.channel = channel;
    this.listener = listener;
  }

  /** Takes the socket over from the event loop, on which this is called while the channel reads. */
  void takeOver() {
    channel.config().setAutoRead(false);
    // As a Channel: what a NioSocketChannel returns differs between Netty 4.1 and 4.2.
    Channel plain = channel;
    // The read that is under way still delivers what it has.
    plain
        .eventLoop()
        .execute(
            () -> {
              handedOver = true;
              listener.received();
            });
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    early.add((ByteBuf) message);
    if (ended) {
      releaseEarly();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    // The thread that reads notices.
    listener.received();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    breakOff(cause.toString(), cause);
  }

  @Override
  public void want(boolean now) {
    wanted = now;
  }

  @Override
  public boolean read(Reader reader) {
    if (!handedOver || ended) {
      return false;
    }
    try {
      if (received == null && !fill(reader.wanted())) {
        return false;
      }
      try {
        reader.read(received.bytes());
      } finally {
        giveBackIfRead();
      }
      return true;
    } catch (TransportException e) {
      breakOff(e.getMessage(), e);
    } catch (IOException e) {
      breakOff(e.toString(), e);
    }
    return false;
  }

  /** Gets up to {@code bytes}; returns false if there are none now, or never will be again. */
  private boolean fill(long bytes) throws IOException {
    received = channel.segments().take(bytes);
    int count;
    try {
      ByteBuffer buffer = received.bytes();
      count = early.isEmpty() ? channel.directSocket().read(buffer) : takeEarly(buffer);
    } finally {
      received.bytes().flip();
      giveBackIfRead();
    }
    if (count < 0) {
      breakOff("the connection was lost", null);
    }
    return count > 0;
  }

  private void giveBackIfRead() {
    if (!received.bytes().hasRemaining()) {
      giveBack();
    }
  }

  private void giveBack() {
    channel.segments().giveBack(received);
    received = null;
  }

  private int takeEarly(ByteBuffer buffer) {
    ByteBuf first = early.element();
    int count = Math.min(first.readableBytes(), buffer.remaining());
    buffer.limit(count);
    first.readBytes(buffer);
    if (!first.isReadable()) {
      early.remove().release();
    }
    return count;
  }

  /** Hears that the reader has found the announcement of the connection's end. */
  void finished(long lastCollective) {
    ended = true;
    listener.finished(lastCollective);
  }

  private void breakOff(String how, Throwable cause) {
    ended = true;
    listener.broken(new IOException(how, cause));
    channel.close();
  }

  @Override
  public boolean hasBytes() {
    if (!handedOver || ended) {
      return false;
    }
    try {
      return received != null || fill(MessageHeader.BYTES);
    } catch (IOException e) {
      breakOff(e.toString(), e);
      return false;
    }
  }

  @Override
  public SocketChannel socket() {
    return channel.directSocket();
  }

  @Override
  public int operations() {
    return wanted && handedOver && !ended ? SelectionKey.OP_READ : 0;
  }

  @Override
  public void close() {
    ended = true;
    releaseEarly();
    if (received != null) {
      giveBack();
    }
  }

  private void releaseEarly() {
    for (ByteBuf each = early.poll(); each != null; each = early.poll()) {
      each.release();
    }
  }
}
