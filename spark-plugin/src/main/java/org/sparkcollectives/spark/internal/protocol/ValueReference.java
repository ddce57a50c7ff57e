package org.sparkcollectives.spark.internal.protocol;

import java.nio.ByteBuffer;
import org.sparkcollectives.store.StoreException;

/**
 * Refers to a large value of the driver's store, which lies there in pieces. The driver sends the
 * reference instead of the value, and an executor reads the pieces.
 *
 * @param value the number of the value, which no other value has had
 * @param size its bytes
 * @param pieces the number of its pieces
 */
public record ValueReference(long value, int size, int pieces) {

  /** Values up to this many bytes are not large: they travel in messages. */
  public static final int INLINE_BYTES = 64 << 10;

  private static final int ENCODED_BYTES = Long.BYTES + 2 * Integer.BYTES;

  /** Reads pieces from another JVM. */
  public interface PieceReader {

    /**
     * Reads a piece into {@code target} from {@code offset} on. Blocks.
     *
     * @return the number of bytes read
     */
    int read(long value, int piece, byte[] target, int offset);
  }

  /** Returns the reference as it travels. */
  public byte[] encode() {
    return ByteBuffer.allocate(ENCODED_BYTES).putLong(value).putInt(size).putInt(pieces).array();
  }

  /**
   * Reads what {@link #encode} returned.
   *
   * @throws StoreException if it is no reference
   */
  public static ValueReference decode(byte[] reference) {
    if (reference.length != ENCODED_BYTES) {
      throw new StoreException("A reference of " + reference.length + " bytes");
    }
    ByteBuffer in = ByteBuffer.wrap(reference);
    return new ValueReference(in.getLong(), in.getInt(), in.getInt());
  }

  /**
   * Returns the bytes of the value, which it reads piece by piece. Blocks.
   *
   * @throws StoreException if the pieces have another number of bytes than the value
   */
  public byte[] fetch(PieceReader reader) {
    byte[] bytes = new byte[size];
    int offset = 0;
    for (int piece = 0; piece < pieces; piece++) {
      offset += reader.read(value, piece, bytes, offset);
    }
    if (offset != size) {
      throw new StoreException(
          "A value of the driver's store has " + offset + " bytes instead of " + size);
    }
    return bytes;
  }
}
