package org.sparkcollectives.spark.internal.python;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import org.sparkcollectives.store.Store;

/**
 * Byte strings of one connection that are too large for a frame, and so travel in pieces: before
 * the request that they belong to, or after its reply. So neither side has a frame of that size
 * beside the byte string itself. Used by one thread.
 */
final class LargeBytes {

  /** Stands for the length of a byte string that travels apart. */
  static final int APART = -1;

  /** The bytes of a reply from which the next byte string travels apart; also the largest piece. */
  static final int PIECE_BYTES = 16 << 20;

  private final int pieceBytes;
  private final Deque<byte[]> brought = new ArrayDeque<>();
  private final Deque<ByteBuffer> leaving = new ArrayDeque<>();
  private ByteBuffer arriving;

  LargeBytes() {
    this(PIECE_BYTES);
  }

  /** Creates it with pieces of another size. */
  LargeBytes(int pieceBytes) {
    this.pieceBytes = pieceBytes;
  }

  /** Forgets what earlier replies have left, for which nobody has asked. */
  void beginReply() {
    leaving.clear();
  }

  /** Forgets all: the request has failed. */
  void forget() {
    brought.clear();
    leaving.clear();
    arriving = null;
  }

  /**
   * Takes the next piece of a byte string.
   *
   * @param index how many were brought before it for the same request; more than that were brought
   *     for one that never came, and go
   * @param isFirst whether the byte string begins with it
   * @param size of the whole; memory is taken for it with the first piece
   * @throws IllegalArgumentException if no store takes one so large, or the pieces are more than it
   */
  void take(int index, boolean isFirst, long size, ByteBuffer piece) {
    while (brought.size() > Math.max(0, index)) {
      brought.removeLast();
    }
    if (isFirst) {
      arriving = null;
      if (size < 0 || size > Store.MAX_VALUE_BYTES) {
        throw new IllegalArgumentException(
            "A value of "
                + size
                + " bytes is larger than the largest, "
                + Store.MAX_VALUE_BYTES
                + " bytes; store it in parts");
      }
      arriving = ByteBuffer.allocate((int) size);
    }
    int missing = arriving == null ? 0 : arriving.remaining();
    if (missing < piece.remaining() || size != arriving.capacity()) {
      forget();
      throw new IllegalArgumentException(
          "A piece of "
              + piece.remaining()
              + " bytes came where "
              + missing
              + " of a value were missing");
    }
    arriving.put(piece);
    if (!arriving.hasRemaining()) {
      brought.add(arriving.array());
      arriving = null;
    }
  }

  /** Returns the next byte string that was brought. */
  byte[] next() {
    byte[] bytes = brought.poll();
    if (bytes == null) {
      throw new IllegalArgumentException("The request has a value that was not brought");
    }
    return bytes;
  }

  /** Puts a byte string into a reply, or if that would be too long keeps it for {@link #give}. */
  void put(byte[] bytes, Reply reply) {
    if (bytes.length == 0 || (long) reply.length() + bytes.length <= pieceBytes) {
      reply.put(bytes);
    } else {
      reply.put(APART).put(bytes.length);
      leaving.add(ByteBuffer.wrap(bytes));
    }
  }

  /** Gives the next piece of what earlier replies have left. */
  void give(Reply reply) {
    ByteBuffer first = leaving.peek();
    if (first == null) {
      throw new IllegalArgumentException("There is no value that was to follow");
    }
    ByteBuffer piece = first.slice(first.position(), Math.min(pieceBytes, first.remaining()));
    reply.begin(Reply.DONE).room(piece.remaining()).put(piece.duplicate());
    first.position(first.position() + piece.remaining());
    if (!first.hasRemaining()) {
      leaving.remove();
    }
  }
}
