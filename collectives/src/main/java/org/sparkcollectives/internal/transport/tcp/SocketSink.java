package org.sparkcollectives.internal.transport.tcp;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.sparkcollectives.internal.transport.ByteSink;
import org.sparkcollectives.net.ProcessCounters;

/**
 * Writes segments to a socket on the thread that offers them. It has memory only while the socket
 * does not take all of a segment.
 */
final class SocketSink implements ByteSink, SocketInterest {

  private final SocketChannel socket;
  private final SegmentPool pool;

  /** The unsent segment, or null. */
  private SegmentPool.Segment unsent;

  private boolean broken;

  SocketSink(SocketChannel socket, SegmentPool pool) {
    this.socket = socket;
    this.pool = pool;
  }

  @Override
  public boolean offer(int bytes, Filler filler) {
    if (!drain()) {
      return false;
    }
    SegmentPool.Segment segment = pool.take(bytes);
    try {
      filler.fill(segment.bytes());
      segment.bytes().flip();
      unsent = segment;
    } finally {
      if (unsent == null) {
        pool.giveBack(segment);
      }
    }
    drain();
    return true;
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
