package org.sparkcollectives.spark.internal.driver;

import java.nio.ByteBuffer;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.apache.spark.storage.BlockData;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.StorageLevel;
import org.apache.spark.util.io.ChunkedByteBuffer;
import org.sparkcollectives.spark.internal.protocol.BlockIds;
import org.sparkcollectives.store.StoreException;
import scala.Option;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Blocks of the driver's BlockManager, which spills them to disk when memory is short and serves
 * them to executors by its own block transfer.
 */
final class SparkBlocks implements Blocks {

  private static final ClassTag<byte[]> BYTES = ClassTag$.MODULE$.apply(byte[].class);

  private final BlockManager blockManager;

  /** Looked for when the first value comes: not every application has one. */
  private volatile BlockPut put;

  private final Executor removals;

  /**
   * Creates the blocks.
   *
   * @param removals runs the removal of blocks, which takes a message to the BlockManager's master
   */
  SparkBlocks(BlockManager blockManager, Executor removals) {
    this.blockManager = blockManager;
    this.removals = removals;
  }

  @Override
  public void put(long value, int piece, ByteBuffer content) {
    BlockId block = BlockIds.of(value, piece);
    ChunkedByteBuffer bytes = new ChunkedByteBuffer(new ByteBuffer[] {content});
    boolean kept;
    try {
      kept = blockPut().put(block, bytes, StorageLevel.MEMORY_AND_DISK_SER(), true, BYTES);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) { // An IOException, which Scala does not declare.
      throw new StoreException("the driver's disk refuses it: " + e, e);
    }
    if (!kept) {
      throw new StoreException(
          "the driver's BlockManager has no room; give the driver more memory or disk");
    }
  }

  private BlockPut blockPut() {
    BlockPut known = put;
    if (known == null) {
      known = BlockPut.of(blockManager);
      put = known;
    }
    return known;
  }

  @Override
  public byte[] read(long value, int piece) {
    BlockId block = BlockIds.of(value, piece);
    Option<ChunkedByteBuffer> local =
        blockManager.getLocalBytes(block).map(data -> copy(block, data));
    if (local.isEmpty()) {
      throw BlockIds.gone(block);
    }
    return local.get().toArray();
  }

  private ChunkedByteBuffer copy(BlockId block, BlockData data) {
    try {
      return data.toChunkedByteBuffer(size -> ByteBuffer.allocate((Integer) size));
    } finally {
      blockManager.releaseLockAndDispose(block, data, Option.empty());
    }
  }

  @Override
  public void remove(long value) {
    try {
      // Does not wait for executors: one that hangs must not delay the values of the others.
      removals.execute(
          () -> blockManager.master().removeBroadcast(BlockIds.broadcast(value), true, false));
    } catch (RejectedExecutionException e) {
      // The application ends, and all its blocks with it.
    }
  }
}
