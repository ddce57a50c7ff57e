package org.sparkcollectives.internal.pointtopoint;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import org.sparkcollectives.testing.FuzzedStream;

/** A connection of messages whose other side sends what a fuzzer makes up. */
final class FuzzedConnection {

  private FuzzedConnection() {}

  /** Returns the allocator for the frames of seeds. */
  static ByteBufAllocator alloc() {
    return UnpooledByteBufAllocator.DEFAULT;
  }

  /** Returns a frame as it is sent over the connection; releases the content. */
  static byte[] frame(ByteBuf content) {
    ByteBuf frame = Unpooled.buffer().writeInt(content.readableBytes()).writeBytes(content);
    content.release();
    return ByteBufUtil.getBytes(frame);
  }

  /** Receives the input, for as long as this side leaves the connection open. */
  static void receive(EmbeddedChannel channel, byte[] input) {
    for (byte[] piece : new FuzzedStream(input).pieces()) {
      if (channel.isOpen()) {
        channel.writeInbound(Unpooled.wrappedBuffer(piece));
        channel.runPendingTasks();
      }
    }
    channel.close();
    channel.checkException();
  }
}
