package org.sparkcollectives.internal.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.sparkcollectives.internal.transport.ByteSink;
import org.sparkcollectives.net.ProcessCounters;

/** Writes segments to a socket on the thread that offers them. */
final class SocketSink implements ByteSink, SocketInterest {

  private final SocketChannel socket;
  private final ByteBufAllocator allocator;
  private ByteBuf memory;
  private ByteBuffer staging;
  private boolean unsent;
  private boolean broken;

  SocketSink(SocketChannel socket, ByteBufAllocator allocator) {
    this.socket = socket;
    this.allocator = allocator;
  }

  @Override
  public boolean offer(int bytes, Filler filler) {
    if (!drain()) {
      return false;
    }
    if (memory == null) {
      memory = allocator.directBuffer(SEGMENT_BYTES, SEGMENT_BYTES);
      staging = memory.internalNioBuffer(0, SEGMENT_BYTES).slice().order(ByteOrder.nativeOrder());
    }
    staging.clear().limit(bytes);
    filler.fill(staging);
    staging.flip();
    unsent = true;
    drain();
    return true;
  }

  @Override
  public boolean drain() {
    if (unsent && !broken) {
      try {
        ProcessCounters.sent(socket.write(staging));
        unsent = staging.hasRemaining();
      } catch (IOException e) {
        // How the connection ended is read, and told, on the way back.
        broken = true;
      }
    }
    return !unsent;
  }

  @Override
  public SocketChannel socket() {
    return socket;
  }

  @Override
  public int operations() {
    return unsent && !broken ? SelectionKey.OP_WRITE : 0;
  }

  @Override
  public void close() {
    broken = true;
    if (memory != null) {
      memory.release();
      memory = null;
    }
  }
}
