package org.sparkcollectives.internal.transport.tcp;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLException;
import org.sparkcollectives.internal.transport.ByteSink;
import org.sparkcollectives.net.ProcessCounters;

/**
 * Writes segments to a socket on the thread that offers them, which also encrypts them where the
 * connection is encrypted. It has memory only while the socket does not take all of a segment.
 */
final class SocketSink implements ByteSink, SocketInterest {

  private final SocketChannel socket;
  private final SegmentPool pool;

  /** Encrypts what is sent; null if the connection is not encrypted. */
  private final TlsRecords tls;

  /** The unsent segment, or null. */
  private SegmentPool.Segment unsent;

  private boolean broken;

  /** Creates a sink; {@code tls} encrypts, and is null if the connection is not encrypted. */
  SocketSink(DirectSocketChannel channel, TlsRecords tls) {
    this.socket = channel.directSocket();
    this.pool = channel.segments();
    this.tls = tls;
  }

  @Override
  public boolean offer(int bytes, Filler filler) {
    if (!drain()) {
      return false;
    }
    if (tls == null) {
      unsent = filled(bytes, filler);
    } else {
      encrypt(bytes, filler);
    }
    drain();
    return true;
  }

  private SegmentPool.Segment filled(int bytes, Filler filler) {
    SegmentPool.Segment segment = pool.take(bytes);
    boolean filled = false;
    try {
      filler.fill(segment.bytes());
      segment.bytes().flip();
      filled = true;
    } finally {
      if (!filled) {
        pool.giveBack(segment);
      }
    }
    return segment;
  }

  private void encrypt(int bytes, Filler filler) {
    SegmentPool.Segment encrypted = pool.take(TlsRecords.encryptedBytes(bytes));
    encrypted.bytes().clear();
    SegmentPool.Segment segment = null;
    try {
      int most = TlsRecords.plainBytes(encrypted.bytes().capacity());
      segment = filled(Math.min(bytes, most), filler);
      tls.encrypt(segment.bytes(), encrypted.bytes());
      encrypted.bytes().flip();
      unsent = encrypted;
    } catch (SSLException e) {
      // As where a write fails.
      broken = true;
    } finally {
      if (segment != null) {
        pool.giveBack(segment);
      }
      if (unsent == null) {
        pool.giveBack(encrypted);
      }
    }
  }

  @Override
  public boolean drain() {
    if (unsent != null) {
      try {
        ProcessCounters.sent(socket.write(unsent.bytes()));
        if (!unsent.bytes().hasRemaining()) {
          giveBack();
        }
      } catch (IOException e) {
        // How the connection ended is read, and told, on the way back.
        broken = true;
        giveBack();
      }
    }
    return unsent == null && !broken;
  }

  private void giveBack() {
    pool.giveBack(unsent);
    unsent = null;
  }

  @Override
  public SocketChannel socket() {
    return socket;
  }

  @Override
  public int operations() {
    return unsent != null ? SelectionKey.OP_WRITE : 0;
  }

  @Override
  public void close() {
    broken = true;
    if (unsent != null) {
      giveBack();
    }
  }
}
