package org.sparkcollectives.spark.internal.driver;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.config.ByteString;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spark.internal.protocol.ValueReference;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoredValue;

/**
 * Creates the values of the driver's store: large ones in pieces, as {@link Blocks}, small ones in
 * the heap. The total size of the large values is bounded.
 *
 * <p>A piece never changes: each value gets a new number, and a value that replaces another is a
 * new one. At most a piece or two of a value is in memory while it is made or read. Thread-safe.
 */
final class BlockValues implements StoredValue.Factory {

  private final Blocks blocks;
  private final int pieceBytes;
  private final long mostBytes;
  private final AtomicLong nextValue = new AtomicLong();
  private final AtomicLong kept = new AtomicLong();

  /**
   * Creates values in blocks.
   *
   * @param pieceBytes the size of all pieces but the last
   * @param mostBytes the limit of all large values together
   */
  BlockValues(Blocks blocks, int pieceBytes, long mostBytes) {
    this.blocks = blocks;
    this.pieceBytes = pieceBytes;
    this.mostBytes = mostBytes;
  }

  int pieceBytes() {
    return pieceBytes;
  }

  /** Returns the bytes of the large values, including those that are being made. */
  long kept() {
    return kept.get();
  }

  /** Returns how many more bytes of large values fit. */
  long free() {
    return Math.max(0, mostBytes - kept.get());
  }

  @Override
  public StoredValue create(String key, byte[] bytes) {
    if (bytes.length <= ValueReference.INLINE_BYTES) {
      return StoredValue.of(bytes);
    }
    Writer writer = begin(bytes.length);
    try {
      ByteBuffer left = ByteBuffer.wrap(bytes);
      while (left.hasRemaining()) {
        int length = Math.min(pieceBytes, left.remaining());
        writer.put(left.slice(left.position(), length));
        left.position(left.position() + length);
      }
      return writer.finish();
    } catch (RuntimeException | Error e) {
      writer.discard();
      throw e;
    }
  }

  @Override
  public boolean isQuick(int size) {
    return size <= ValueReference.INLINE_BYTES;
  }

  @Override
  public StoredValue join(String key, StoredValue head, StoredValue tail) {
    if (isQuick(head.size() + tail.size())) {
      return StoredValue.Factory.super.join(key, head, tail);
    }
    Writer writer = begin(head.size() + tail.size());
    try {
      copy(head, tail, writer);
      return writer.finish();
    } catch (RuntimeException | Error e) {
      writer.discard();
      throw e;
    }
  }

  private void copy(StoredValue head, StoredValue tail, Writer writer) {
    byte[] piece = new byte[pieceBytes];
    int filled = 0;
    for (StoredValue each : new StoredValue[] {head, tail}) {
      try (InputStream bytes = each.open()) {
        int read = bytes.readNBytes(piece, filled, pieceBytes - filled);
        while (read > 0) {
          filled += read;
          if (filled == pieceBytes) {
            writer.put(ByteBuffer.wrap(piece));
            piece = new byte[pieceBytes];
            filled = 0;
          }
          read = bytes.readNBytes(piece, filled, pieceBytes - filled);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e); // Blocks do not throw this.
      }
    }
    if (filled > 0) {
      writer.put(ByteBuffer.wrap(Arrays.copyOf(piece, filled)));
    }
  }

  /**
   * Begins a value of {@code size} bytes, and reserves the space for it.
   *
   * @throws StoreException if there is not enough
   */
  Writer begin(int size) {
    long before = kept.getAndAdd(size);
    if (size > Store.MAX_VALUE_BYTES || before + size > mostBytes) {
      kept.addAndGet(-size);
      throw new StoreException(
          "The driver's store cannot keep a value of "
              + size
              + " bytes: "
              + (size > Store.MAX_VALUE_BYTES
                  ? "the largest is of " + Store.MAX_VALUE_BYTES + " bytes; store it in parts"
                  : "it holds "
                      + before
                      + " bytes of large values, and "
                      + SparkPluginConfiguration.STORE_MAX_SIZE.key()
                      + " is "
                      + ByteString.format(mostBytes)
                      + "; raise that, or delete what is not needed"));
    }
    return new Writer(size);
  }

  /** Makes a value. For one thread at a time. */
  final class Writer {
    private final long number = nextValue.getAndIncrement();
    private final int size;
    private int pieces;
    private boolean ended;

    private Writer(int size) {
      this.size = size;
    }

    int size() {
      return size;
    }

    /** Adds a piece, which the value owns from now on. May wait for a disk. */
    void put(ByteBuffer piece) {
      try {
        blocks.put(number, pieces++, piece);
      } catch (StoreException e) {
        throw new StoreException(
            "The driver's store cannot keep a value of " + size + " bytes: " + e.getMessage(), e);
      }
    }

    /** Ends the value, of which all pieces have been added. */
    StoredValue finish() {
      ended = true;
      return new BlockValue(number, size, pieces);
    }

    /** Removes all pieces, unless the value is finished. */
    void discard() {
      if (!ended) {
        ended = true;
        remove(number, size);
      }
    }
  }

  private void remove(long number, int size) {
    kept.addAndGet(-size);
    blocks.remove(number);
  }

  private final class BlockValue implements StoredValue {
    private final long number;
    private final int size;
    private final int pieces;

    BlockValue(long number, int size, int pieces) {
      this.number = number;
      this.size = size;
      this.pieces = pieces;
    }

    @Override
    public int size() {
      return size;
    }

    @Override
    public byte[] bytes() {
      byte[] bytes = new byte[size];
      int offset = 0;
      for (int piece = 0; piece < pieces; piece++) {
        byte[] part = blocks.read(number, piece);
        System.arraycopy(part, 0, bytes, offset, part.length);
        offset += part.length;
      }
      return bytes;
    }

    /** Returns the array itself: nobody else has seen it, so no copy is needed. */
    @Override
    public byte[] toByteArray() {
      return bytes();
    }

    @Override
    public InputStream open() {
      return new PieceStream(number, pieces);
    }

    @Override
    public Optional<byte[]> reference() {
      return Optional.of(new ValueReference(number, size, pieces).encode());
    }

    @Override
    public void released() {
      remove(number, size);
    }

    @Override
    public String toString() {
      return size + " bytes in " + pieces + " blocks";
    }
  }

  /** The bytes of a value as a stream, which keeps one piece in memory. */
  private final class PieceStream extends InputStream {
    private final long number;
    private final int pieces;
    private byte[] current = {};
    private int position;
    private int next;

    PieceStream(long number, int pieces) {
      this.number = number;
      this.pieces = pieces;
    }

    @Override
    public int read() {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) {
      if (length == 0) {
        return 0;
      }
      while (position == current.length) {
        if (next == pieces) {
          return -1;
        }
        current = blocks.read(number, next++);
        position = 0;
      }
      int count = Math.min(length, current.length - position);
      System.arraycopy(current, position, target, offset, count);
      position += count;
      return count;
    }
  }
}
