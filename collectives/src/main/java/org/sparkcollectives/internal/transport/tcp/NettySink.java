package org.sparkcollectives.internal.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;
import org.sparkcollectives.internal.transport.ByteSink;
import org.sparkcollectives.net.ProcessCounters;

/**
 * Sends segments through a channel's event loop: at most four of them, 512 KiB, are unsent at any
 * time, each connection for itself.
 */
final class NettySink implements ByteSink {

  private static final int MAX_UNSENT = 4;

  private final Channel channel;
  private final AtomicInteger unsent = new AtomicInteger();
  private final ChannelFutureListener onSent;

  /** Creates a sink; {@code onProgress} wakes the thread that offers, when it may offer again. */
  NettySink(Channel channel, Runnable onProgress) {
    this.channel = channel;
    this.onSent =
        sent -> {
          unsent.decrementAndGet();
          onProgress.run();
        };
  }

  @Override
  public boolean offer(int bytes, Filler filler) {
    if (unsent.get() >= MAX_UNSENT) {
      return false;
    }
    ByteBuf segment = channel.alloc().directBuffer(bytes, bytes);
    boolean filled = false;
    try {
      ByteBuffer memory =
          segment.internalNioBuffer(0, bytes).slice().order(ByteOrder.nativeOrder());
      filler.fill(memory);
      segment.writerIndex(memory.position());
      filled = true;
    } finally {
      if (!filled) {
        segment.release();
      }
    }
    unsent.incrementAndGet();
    ProcessCounters.sent(segment.readableBytes());
    channel.writeAndFlush(segment).addListener(onSent);
    return true;
  }

  @Override
  public boolean drain() {
    // The event loop moves it.
    return true;
  }

  @Override
  public void close() {}
}
