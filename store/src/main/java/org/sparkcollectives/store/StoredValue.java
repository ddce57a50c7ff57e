package org.sparkcollectives.store;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;

/**
 * A value that a {@link StoreTable} holds: immutable bytes, wherever they are.
 *
 * <p>The table asks for the bytes only where it must look at them (add, append, compare-and-set),
 * so that a kind may keep large ones elsewhere.
 */
public interface StoredValue {

  /** The number of bytes. */
  int size();

  /**
   * The bytes; the caller must not change them. May be slow for a kind that keeps them elsewhere.
   */
  byte[] bytes();

  /**
   * Returns the bytes one after the other, for a kind of which not all are to be in memory at once.
   * It may wait, and throws {@link ValueGoneException} once the value was released.
   */
  default InputStream open() {
    return new ByteArrayInputStream(bytes());
  }

  /** The bytes, in an array that belongs to the caller. */
  default byte[] toByteArray() {
    return bytes().clone();
  }

  /**
   * What travels to a remote client instead of the bytes, for a kind whose bytes the client fetches
   * itself; see {@link RemoteStore#fetch}. Empty for values that travel whole.
   */
  default Optional<byte[]> reference() {
    return Optional.empty();
  }

  /**
   * Frees what this value keeps outside the heap. The table calls it for a value that was replaced,
   * deleted, or not stored; who takes a value from a queue calls it once its bytes are read. Called
   * outside the table's lock; must not block.
   */
  default void released() {}

  /** A value held in memory, which owns {@code bytes} from now on. */
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

    /** A value for {@code key} that owns {@code bytes} from now on. Must not call the table. */
    StoredValue create(String key, byte[] bytes);

    /** Whether a value of so many bytes is made, read and compared without waiting for a disk. */
    default boolean isQuick(int bytes) {
      return true;
    }

    /**
     * Returns a value for {@code key} with the bytes of two others, which stay as they are. Not
     * larger than {@link Store#MAX_VALUE_BYTES}. Must not call the table.
     */
    default StoredValue join(String key, StoredValue head, StoredValue tail) {
      byte[] joined = Arrays.copyOf(head.bytes(), head.size() + tail.size());
      System.arraycopy(tail.bytes(), 0, joined, head.size(), tail.size());
      return create(key, joined);
    }
  }
}
