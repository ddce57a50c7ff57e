package org.sparkcollectives.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.TooLongFrameException;

/**
 * Cuts a stream of bytes into frames: a length (32 bits, big-endian), then so many bytes.
 *
 * <p>Passes each frame on as one contiguous {@link ByteBuf} without the length, which the next
 * handler releases. The length is checked before anything is allocated, and memory grows only with
 * the bytes that arrive: announcing a large frame costs this side nothing. A length out of bounds
 * closes the connection with a {@link TooLongFrameException}; bytes that come before it is closed
 * are dropped.
 */
public final class FrameDecoder extends ChannelInboundHandlerAdapter {

  private static final int FIRST_CAPACITY = 64 << 10;

  private final int maxLength;
  private int lengthBytes;
  private int length;
  private ByteBuf body;
  private boolean outOfBounds;

  /** Creates a decoder that accepts frames of up to {@code maxLength} bytes. */
  public FrameDecoder(int maxLength) {
    this.maxLength = maxLength;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (!(message instanceof ByteBuf in)) {
      context.fireChannelRead(message);
      return;
    }
    try {
      while (in.isReadable() && !outOfBounds && !context.isRemoved()) {
        if (lengthBytes < Integer.BYTES) {
          length = (length << 8) | in.readUnsignedByte();
          lengthBytes++;
          if (lengthBytes == Integer.BYTES) {
            checkLength();
            passOnIfComplete(context, in);
          }
        } else {
          passOnIfComplete(context, in);
        }
      }
      if (in.isReadable() && !outOfBounds) {
        context.fireChannelRead(in.readRetainedSlice(in.readableBytes()));
      }
    } catch (TooLongFrameException e) {
      context.fireExceptionCaught(e);
      context.close();
    } finally {
      in.release();
    }
  }

  private void checkLength() {
    if (length < 0 || length > maxLength) {
      outOfBounds = true;
      throw new TooLongFrameException(
          "a frame of "
              + Integer.toUnsignedLong(length)
              + " bytes was announced; the most is "
              + maxLength);
    }
  }

  private void passOnIfComplete(ChannelHandlerContext context, ByteBuf in) {
    ByteBuf frame;
    if (body == null && in.readableBytes() >= length) {
      frame = in.readRetainedSlice(length);
    } else {
      collect(context, in);
      if (body.readableBytes() < length) {
        return;
      }
      frame = body;
      body = null;
    }
    length = 0;
    lengthBytes = 0;
    context.fireChannelRead(frame);
  }

  private void collect(ChannelHandlerContext context, ByteBuf in) {
    if (body == null) {
      body = context.alloc().buffer(Math.min(length, FIRST_CAPACITY), length);
    }
    int count = Math.min(in.readableBytes(), length - body.readableBytes());
    if (count > body.writableBytes()) {
      // Doubles the capacity: Netty itself grows large buffers by a constant, which copies them too
      // often.
      long needed = Math.max(2L * body.capacity(), (long) body.writerIndex() + count);
      body.capacity((int) Math.min(length, needed));
    }
    body.writeBytes(in, count);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    if (body != null) {
      body.release();
      body = null;
    }
  }
}
