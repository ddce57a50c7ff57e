package org.sparkcollectives.internal.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
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
 * <p>Where the connection is encrypted the thread decrypts as well, a record at a time, see {@link
 * TlsRecords}.
 *
 * <p>It reads no further than the message that is wanted, so that what comes after it stays with
 * the operating system, and has memory only while it reads.
 */
final class SocketSource extends ChannelInboundHandlerAdapter
    implements ByteSource, SocketInterest {

  private final DirectSocketChannel channel;
  private final ConnectionListener listener;

  /** Decrypts until the thread takes over; null if the connection is not encrypted. */
  private final SslHandler handshake;

  /** The decrypted bytes that arrived before the thread took over. */
  private final Queue<ByteBuf> early = new ConcurrentLinkedQueue<>();

  /** The segment that has unread bytes, or null. */
  private SegmentPool.Segment received;

  /** Decrypts after the thread has taken over; null if the connection is not encrypted. */
  private volatile TlsRecords tls;

  private boolean wanted;
  private volatile boolean ended;
  private volatile boolean handedOver;

  /** Creates the source of a channel whose handshake is over; on the channel's event loop. */
  SocketSource(DirectSocketChannel channel, ConnectionListener listener) {
    this.channel = channel;
    this.listener = listener;
    this.handshake = channel.pipeline().get(SslHandler.class);
  }

  /** Takes the socket over from the event loop, on which this is called while the channel reads. */
  void takeOver() {
    channel.config().setAutoRead(false);
    // As a Channel: what a NioSocketChannel returns differs between Netty 4.1 and 4.2.
    Channel plain = channel;
    // The read that is under way still delivers what it has.
    plain.eventLoop().execute(this::begin);
  }

  private void begin() {
    try {
      tls = handshake == null ? null : TlsRecords.takeOver(channel, handshake, true);
    } catch (IOException e) {
      breakOff(e.getMessage(), e);
      return;
    }
    if (ended && tls != null) {
      tls.drop();
    }
    // From here on the thread reads, so nothing of it may be dropped here any more.
    handedOver = true;
    listener.received();
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
    received = channel.segments().take(tls == null ? bytes : TlsRecords.RECORD_BYTES);
    int count;
    try {
      ByteBuffer buffer = received.bytes();
      if (!early.isEmpty()) {
        count = takeEarly(buffer);
      } else if (tls == null) {
        count = channel.directSocket().read(buffer);
      } else {
        count = tls.read(buffer, bytes);
      }
    } catch (ClosedByInterruptException e) {
      throw e;
    } catch (ClosedChannelException e) {
      // The event loop has seen the end.
      count = -1;
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
    if (tls != null) {
      tls.drop();
    }
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
