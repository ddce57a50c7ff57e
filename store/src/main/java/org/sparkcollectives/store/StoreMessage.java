package org.sparkcollectives.store;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.Iterator;

/**
 * The bytes of a request or a reply, made as they are read. The values in it are not copied before:
 * any number of replies share the bytes of a value with the table. For one thread at a time.
 */
final class StoreMessage {

  private final int length;
  private final Iterator<byte[]> parts;
  private ByteBuffer part = ByteBuffer.allocate(0);
  private int left;

  /**
   * Creates a message.
   *
   * @param parts arrays of {@code length} bytes in all, which nobody changes
   */
  StoreMessage(int length, Iterator<byte[]> parts) {
    this.length = length;
    this.left = length;
    this.parts = parts;
  }

  static StoreMessage of(byte[] bytes) {
    return new StoreMessage(bytes.length, Collections.singleton(bytes).iterator());
  }

  /** Returns the number of bytes in all. */
  int length() {
    return length;
  }

  /** Returns the number of bytes that have not been read. */
  int left() {
    return left;
  }

  /** Reads the next bytes, until {@code target} is full or none are left. */
  void read(ByteBuffer target) {
    while (left > 0 && target.hasRemaining()) {
      if (!part.hasRemaining()) {
        part = ByteBuffer.wrap(parts.next());
      }
      int count = Math.min(part.remaining(), target.remaining());
      target.put(part.slice(part.position(), count));
      part.position(part.position() + count);
      left -= count;
    }
  }

  /** Reads all bytes that are left. */
  byte[] toByteArray() {
    byte[] bytes = new byte[left];
    read(ByteBuffer.wrap(bytes));
    return bytes;
  }
}
