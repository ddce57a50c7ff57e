package org.sparkcollectives.internal.pointtopoint;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.LengthFieldPrepender;
import java.nio.ByteOrder;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.spi.failure.MismatchCodec;

/**
 * The frames of point-to-point messages, each after its length in four bytes.
 *
 * <pre>
 *   sender to receiver                      receiver to sender
 *   OFFER id, tag, dtype, byte order, count  --&gt;
 *                                   &lt;--     ACCEPT id   or   REFUSE id, mismatch
 *   DATA id, elements (again and again)
 *   END last collective                     END last collective
 * </pre>
 *
 * <p>No element is sent before a receive was matched, so nothing has to be buffered for a receive
 * that comes late, or never.
 */
final class MessageFrames {

  static final byte OFFER = 1;
  static final byte DATA = 2;
  static final byte END = 3;
  static final byte ACCEPT = 4;
  static final byte REFUSE = 5;

  /** The largest part of a message in one frame. */
  static final int MAX_DATA_BYTES = 128 * 1024;

  private static final byte BYTE_ORDER =
      (byte) (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? 1 : 2);
  private static final int MAX_FRAME_BYTES = MAX_DATA_BYTES + 64;
  private static final int MAX_MISMATCH_BYTES = 8000;
  private static final DType[] DTYPES = DType.values();

  private MessageFrames() {}

  static void addTo(ChannelPipeline pipeline) {
    pipeline.addLast(
        new LengthFieldBasedFrameDecoder(MAX_FRAME_BYTES, 0, Integer.BYTES, 0, Integer.BYTES));
    pipeline.addLast(new LengthFieldPrepender(Integer.BYTES));
  }

  static ByteBuf offer(ByteBufAllocator alloc, long id, int tag, DType dtype, long count) {
    return alloc
        .buffer()
        .writeByte(OFFER)
        .writeLong(id)
        .writeInt(tag)
        .writeByte(dtype.ordinal())
        .writeByte(BYTE_ORDER)
        .writeLong(count);
  }

  static ByteBuf accept(ByteBufAllocator alloc, long id) {
    return alloc.buffer().writeByte(ACCEPT).writeLong(id);
  }

  static ByteBuf refuse(ByteBufAllocator alloc, long id, CollectiveMismatchException why) {
    byte[] mismatch = MismatchCodec.encode(why);
    int length = Math.min(mismatch.length, MAX_MISMATCH_BYTES);
    return alloc.buffer().writeByte(REFUSE).writeLong(id).writeBytes(mismatch, 0, length);
  }

  /**
   * Reads the rest of a REFUSE frame.
   *
   * @throws java.io.UncheckedIOException if it is no mismatch
   */
  static CollectiveMismatchException refusal(ByteBuf rest) {
    byte[] mismatch = new byte[rest.readableBytes()];
    rest.readBytes(mismatch);
    return MismatchCodec.decodeMismatch(mismatch);
  }

  static ByteBuf end(ByteBufAllocator alloc, long lastCollective) {
    return alloc.buffer().writeByte(END).writeLong(lastCollective);
  }

  /** Refuses elements whose byte order is not this machine's. */
  static void requireByteOrder(byte theirs) {
    if (theirs != BYTE_ORDER) {
      throw new IllegalArgumentException(
          "elements in the other byte order; all ranks must run on machines of one byte order");
    }
  }

  static DType dtype(byte ordinal) {
    if (ordinal < 0 || ordinal >= DTYPES.length) {
      throw new IllegalArgumentException("a message of element type " + ordinal);
    }
    return DTYPES[ordinal];
  }
}
