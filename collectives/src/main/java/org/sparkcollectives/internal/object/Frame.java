package org.sparkcollectives.internal.object;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.Tensor;

/**
 * A piece of a serialised object, sent as one tensor of bytes.
 *
 * <pre>
 *   kind: 1 byte | bytes of the piece: 4 | bytes of the next frame: 4, 0 after the last | the piece
 * </pre>
 *
 * <p>The first frame always has {@link #FIRST_BYTES}, because the receiver cannot know its size.
 * Every frame announces the size of the next, so each is one operation, and none is larger than its
 * content.
 */
final class Frame {

  /**
   * The size of the first frame: large enough for most small objects, small enough to cost no more
   * than an empty message.
   */
  static final int FIRST_BYTES = 1024;

  /**
   * The largest frame: large enough for full speed. A sender holds three of them, a receiver two.
   */
  static final int MOST_BYTES = 4 << 20;

  private static final int HEADER_BYTES = 9;
  private static final int INITIAL_BYTES = 64 << 10;
  private static final byte PIECE = 'O';
  private static final byte FAILURE = 'F';

  private final int limit;
  private byte[] bytes;
  private int end = HEADER_BYTES;

  /**
   * Creates an empty frame.
   *
   * @param limit how many bytes it may have with its header
   */
  private Frame(int limit) {
    this.limit = limit;
    this.bytes = new byte[Math.min(limit, INITIAL_BYTES)];
    setKind(PIECE);
  }

  static Frame first() {
    return new Frame(FIRST_BYTES);
  }

  static Frame later() {
    return new Frame(MOST_BYTES);
  }

  /** Returns a frame that says why there is no more of the object. */
  static Frame failure(byte[] failure) {
    Frame frame = later();
    frame.append(failure, 0, failure.length);
    frame.setKind(FAILURE);
    return frame;
  }

  private void setKind(byte kind) {
    bytes[0] = kind;
  }

  private boolean isFirst() {
    return limit == FIRST_BYTES;
  }

  boolean isEmpty() {
    return end == HEADER_BYTES;
  }

  boolean isFull() {
    return end == limit;
  }

  /** Appends as many bytes as fit, and returns how many that were. */
  int append(byte[] from, int offset, int length) {
    int taken = Math.min(length, limit - end);
    if (end + taken > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.min(limit, Math.max(end + taken, 2 * bytes.length)));
    }
    System.arraycopy(from, offset, bytes, end, taken);
    end += taken;
    return taken;
  }

  void clear() {
    end = HEADER_BYTES;
  }

  /** Returns the frame with its header, as it is sent. */
  Tensor toTensor(Frame next) {
    ByteBuffer.wrap(bytes).putInt(1, end - HEADER_BYTES).putInt(5, next == null ? 0 : next.end);
    return Tensor.of(bytes).slice(0, isFirst() ? FIRST_BYTES : end);
  }

  /** The header of a received frame. */
  record Header(boolean isFailure, int offset, int end, int nextBytes) {

    /**
     * Reads a header.
     *
     * @param length of the frame, which {@code bytes} begins with
     * @throws CollectiveMismatchException if this is no frame
     */
    static Header of(byte[] bytes, int length, String source) {
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      byte kind = buffer.get(0);
      int piece = buffer.getInt(1);
      int next = buffer.getInt(5);
      if ((kind != PIECE && kind != FAILURE)
          || piece < 0
          || piece > length - HEADER_BYTES
          || (next != 0 && next <= HEADER_BYTES)
          || next > MOST_BYTES) {
        throw new CollectiveMismatchException(
            source
                + " received "
                + length
                + " bytes that are no part of an object: the other rank must call the same operation"
                + " of ProcessGroup.objects(), and no other thread may use the group meanwhile");
      }
      return new Header(kind == FAILURE, HEADER_BYTES, HEADER_BYTES + piece, next);
    }
  }
}
