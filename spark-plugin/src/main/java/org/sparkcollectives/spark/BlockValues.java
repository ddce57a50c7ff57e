package org.sparkcollectives.spark;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BroadcastBlockId;
import org.apache.spark.storage.StorageLevel;
import org.apache.spark.util.io.ChunkedByteBuffer;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoredValue;
import org.sparkcollectives.store.ValueGoneException;
import scala.Option;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Keeps the large values of the driver's store as blocks of Spark's BlockManager, which spills them
 * to disk when memory is short and serves them to executors by its own block transfer.
 *
 * <p>A block never changes: each value gets an id that was never used, and a value that is replaced
 * is another block. The ids are those of broadcasts, because Spark knows how to read their names on
 * executors; ours begin far above the ones that Spark counts up from 0.
 */
final class BlockValues implements StoredValue.Factory {

  /** Values up to this many bytes stay in the driver's heap. */
  static final int INLINE_BYTES = 1 << 20;

  private static final long FIRST_ID = 1L << 60;
  private static final ClassTag<byte[]> BYTES = ClassTag$.MODULE$.apply(byte[].class);

  private final BlockManager blockManager;
  private final Executor background;
  private final AtomicLong nextId = new AtomicLong(FIRST_ID);

  /** With where blocks are removed, which takes a message to the BlockManager's master. */
  BlockValues(BlockManager blockManager, Executor background) {
    this.blockManager = blockManager;
    this.background = background;
  }

  @Override
  public StoredValue create(String key, byte[] bytes) {
    if (bytes.length <= INLINE_BYTES) {
      return StoredValue.of(bytes);
    }
    long id = nextId.getAndIncrement();
    BlockId block = new BroadcastBlockId(id, "collectives");
    ChunkedByteBuffer content = new ChunkedByteBuffer(new ByteBuffer[] {ByteBuffer.wrap(bytes)});
    if (!blockManager.putBytes(block, content, StorageLevel.MEMORY_AND_DISK_SER(), true, BYTES)) {
      throw new StoreException(
          "The driver's BlockManager has no room for the "
              + bytes.length
              + " bytes of \""
              + key
              + "\"; give the driver more memory or disk");
    }
    return new BlockValue(id, block, bytes.length);
  }

  private final class BlockValue implements StoredValue {
    private final long id;
    private final BlockId block;
    private final int size;

    BlockValue(long id, BlockId block, int size) {
      this.id = id;
      this.block = block;
      this.size = size;
    }

    @Override
    public int size() {
      return size;
    }

    @Override
    public byte[] bytes() {
      Option<ChunkedByteBuffer> local = blockManager.getLocalBytes(block).map(data -> copy(data));
      if (local.isEmpty()) {
        throw new StoreException("Block " + block + " is gone from the driver's BlockManager");
      }
      return local.get().toArray();
    }

    private ChunkedByteBuffer copy(org.apache.spark.storage.BlockData data) {
      try {
        return data.toChunkedByteBuffer(size -> ByteBuffer.allocate((Integer) size));
      } finally {
        blockManager.releaseLockAndDispose(block, data, Option.empty());
      }
    }

    @Override
    public Optional<byte[]> reference() {
      return Optional.of(block.name().getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void released() {
      // Without waiting for executors: one that is stuck must not hold up the others' values.
      background.execute(() -> blockManager.master().removeBroadcast(id, true, false));
    }

    @Override
    public String toString() {
      return size + " bytes in " + block;
    }
  }

  /** The bytes of a value that is a block, wherever this JVM is. Blocks. */
  static byte[] fetch(BlockManager blockManager, byte[] reference) {
    BlockId block = BlockId.apply(new String(reference, StandardCharsets.UTF_8));
    Option<ChunkedByteBuffer> bytes = blockManager.getRemoteBytes(block);
    if (bytes.isEmpty()) {
      throw new ValueGoneException(
          "Block " + block + " of the driver's store is gone; its key was replaced or deleted");
    }
    ChunkedByteBuffer content = bytes.get();
    try {
      return content.toArray();
    } finally {
      content.dispose();
    }
  }
}
