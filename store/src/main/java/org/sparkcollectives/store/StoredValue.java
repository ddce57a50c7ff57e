package org.sparkcollectives.store;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;

/**
 * A value that a {@link StoreTable} holds: immutable bytes, in memory or elsewhere.
 *
 * <p>The table asks for the bytes only if it must look at them (add, append, compare-and-set). So a
 * kind may keep large ones elsewhere.
 */
public interface StoredValue {

  /** Returns the number of bytes. */
  int size();

  /**
   * Returns the bytes, which the caller must not change. May be slow for a kind that keeps them
   * elsewhere.
   */
  byte[] bytes();

  /**
   * Returns the bytes as a stream, for a kind of which not all bytes are in memory at once. The
   * stream may block, and throws {@link ValueGoneException} once the value was released.
   */
  default InputStream open() {
    return new ByteArrayInputStream(bytes());
  }

  /** Returns the bytes in an array that the caller owns. */
  default byte[] toByteArray() {
    return bytes().clone();
  }

  /**
   * Returns the reference that is sent to a remote client instead of the bytes, for a kind whose
   * bytes the client fetches itself; see {@link RemoteStore#fetch}. Empty for values that are sent
   * whole.
   */
  default Optional<byte[]> reference() {
    return Optional.empty();
  }

  /**
   * Frees what this value keeps outside the heap. The table calls it for a value that was replaced,
   * deleted, or not stored. Whoever takes a value from a queue calls it once the bytes are read.
   * Called outside the table's lock; must not block.
   */
  default void released() {}

  /** Creates a value in memory, which owns {@code bytes} from now on. */
  static StoredValue of(byte[] bytes) {
    Objects.requireNonNull(bytes, "bytes");
    return new StoredValue() {
      @Override
      public int size() {
        return bytes.length;
      }

      @Override
      public byte[] bytes() {
        return bytes;
      }

      @Override
      public String toString() {
        return bytes.length + " bytes";
      }
    };
  }

  /** Decides in what kind of value a table keeps given bytes. */
  @FunctionalInterface
  interface Factory {

    /**
     * Creates a value for {@code key} that owns {@code bytes} from now on. Must not call the table.
     */
    StoredValue create(String key, byte[] bytes);

    /**
     * Returns whether a value of so many bytes is made, read and compared without waiting for a
     * disk.
     */
    default boolean isQuick(int bytes) {
      return true;
    }

    /**
     * Creates a value for {@code key} with the bytes of two others, which stay as they are. Not
     * larger than {@link Store#MAX_VALUE_BYTES}. Must not call the table.
     */
    default StoredValue join(String key, StoredValue head, StoredValue tail) {
      byte[] joined = Arrays.copyOf(head.bytes(), head.size() + tail.size());
      System.arraycopy(tail.bytes(), 0, joined, head.size(), tail.size());
      return create(key, joined);
    }
  }
}
