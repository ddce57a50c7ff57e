package org.sparkcollectives.store;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.stream.ChunkedInput;

/**
 * A message as a frame with its length, in chunks that are made when the connection takes them. So
 * a message that waits for a slow reader costs no buffer.
 */
final class MessageChunks implements ChunkedInput<ByteBuf> {

  /** Large enough that system calls do not count, small enough for thousands of connections. */
  static final int CHUNK_BYTES = 32 << 10;

  private final StoreMessage message;
  private boolean begun;

  MessageChunks(StoreMessage message) {
    this.message = message;
  }

  @Override
  public ByteBuf readChunk(ByteBufAllocator allocator) {
    int head = begun ? 0 : Integer.BYTES;
    int bytes = Math.min(CHUNK_BYTES, head + message.left());
    ByteBuf chunk = allocator.directBuffer(bytes, bytes);
    if (!begun) {
      chunk.writeInt(message.length());
      begun = true;
    }
    message.read(chunk.nioBuffer(head, bytes - head));
    return chunk.writerIndex(bytes);
  }

  @Override
  @SuppressWarnings("deprecation") // Netty still asks for it.
  public ByteBuf readChunk(ChannelHandlerContext context) {
    return readChunk(context.alloc());
  }

  @Override
  public boolean isEndOfInput() {
    return begun && message.left() == 0;
  }

  @Override
  public long length() {
    return Integer.BYTES + (long) message.length();
  }

  @Override
  public long progress() {
    return begun ? length() - message.left() : 0;
  }

  @Override
  public void close() {}
}
