package org.sparkcollectives.spark.internal.python;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/** One reply, which is written into memory first and sent as a whole. Reused for all replies. */
final class Reply {

  /** The call has succeeded. */
  static final byte DONE = 0;

  /** The call has failed; the exception follows, see {@link ErrorReply}. */
  static final byte FAILED = 1;

  /** The call is not done yet, and continues. */
  static final byte PENDING = 2;

  private static final int FIRST_BYTES = 512;
  private static final int KEPT_BYTES = 64 * 1024;

  private byte[] bytes;
  private ByteBuffer frame;

  Reply() {
    use(new byte[FIRST_BYTES]);
  }

  private void use(byte[] memory) {
    bytes = memory;
    frame = ByteBuffer.wrap(memory).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Begins a new reply. */
  Reply begin(byte status) {
    if (bytes.length > KEPT_BYTES) {
      use(new byte[FIRST_BYTES]);
    }
    frame.clear().position(Integer.BYTES);
    frame.put(status);
    return this;
  }

  private void ensure(int count) {
    if (frame.remaining() < count) {
      int position = frame.position();
      int needed = Math.addExact(position, count);
      int twice = (int) Math.min(2L * bytes.length, Integer.MAX_VALUE - 8);
      use(Arrays.copyOf(bytes, Math.max(needed, twice)));
      frame.position(position);
    }
  }

  Reply put(boolean value) {
    return put((byte) (value ? 1 : 0));
  }

  Reply put(byte value) {
    ensure(1);
    frame.put(value);
    return this;
  }

  Reply put(int value) {
    ensure(Integer.BYTES);
    frame.putInt(value);
    return this;
  }

  Reply put(long value) {
    ensure(Long.BYTES);
    frame.putLong(value);
    return this;
  }

  Reply put(int[] values) {
    put(values.length);
    for (int each : values) {
      put(each);
    }
    return this;
  }

  Reply put(byte[] value) {
    ensure(Integer.BYTES + value.length);
    frame.putInt(value.length).put(value);
    return this;
  }

  Reply put(String text) {
    return put(text.getBytes(UTF_8));
  }

  Reply putTexts(List<String> texts) {
    put(texts.size());
    texts.forEach(this::put);
    return this;
  }

  /** Returns how many bytes it has so far. */
  int length() {
    return frame.position();
  }

  /** Appends {@code count} bytes, which the caller fills. */
  ByteBuffer room(int count) {
    ensure(Integer.BYTES + count);
    frame.putInt(count);
    ByteBuffer room = frame.slice(frame.position(), count);
    frame.position(frame.position() + count);
    return room;
  }

  /** Sends the reply. Blocks while the other side does not read. */
  void sendTo(OutputStream out) throws IOException {
    int length = frame.position();
    frame.putInt(0, length - Integer.BYTES);
    out.write(bytes, 0, length);
  }
}
