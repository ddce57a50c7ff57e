package org.sparkcollectives.spark;

import java.nio.ByteBuffer;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.apache.spark.storage.BlockData;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BroadcastBlockId;
import org.apache.spark.storage.StorageLevel;
import org.apache.spark.util.io.ChunkedByteBuffer;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.ValueGoneException;
import scala.Option;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Blocks of the driver's BlockManager, which spills them to disk when memory is short and serves
 * them to executors by its own block transfer.
 *
 * <p>Their ids are those of broadcasts, because executors can parse such names. They begin far
 * above the ids that Spark counts up from 0.
 */
final class SparkBlocks implements Blocks {

  private static final long FIRST_ID = 1L << 60;
  private static final ClassTag<byte[]> BYTES = ClassTag$.MODULE$.apply(byte[].class);

  private final BlockManager blockManager;
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

  private static BlockId id(long value, int piece) {
    return new BroadcastBlockId(FIRST_ID + value, "collectives_piece" + piece);
  }

  @Override
  public void put(long value, int piece, ByteBuffer content) {
    BlockId block = id(value, piece);
    ChunkedByteBuffer bytes = new ChunkedByteBuffer(new ByteBuffer[] {content});
    boolean kept;
    try {
      kept = blockManager.putBytes(block, bytes, StorageLevel.MEMORY_AND_DISK_SER(), true, BYTES);
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

  @Override
  public byte[] read(long value, int piece) {
    BlockId block = id(value, piece);
    Option<ChunkedByteBuffer> local =
        blockManager.getLocalBytes(block).map(data -> copy(block, data));
    if (local.isEmpty()) {
      throw gone(block);
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

  private static ValueGoneException gone(BlockId block) {
    return new ValueGoneException(
        "Block " + block + " of the driver's store is gone; its key was replaced or deleted");
  }

  @Override
  public void remove(long value) {
    try {
      // Does not wait for executors: one that hangs must not delay the values of the others.
      removals.execute(() -> blockManager.master().removeBroadcast(FIRST_ID + value, true, false));
    } catch (RejectedExecutionException e) {
      // The application ends, and all its blocks with it.
    }
  }

  /**
   * Reads a piece from the driver, wherever this JVM is, into {@code target} from {@code offset}
   * on. Blocks.
   *
   * @return the number of bytes read
   * @throws ValueGoneException if the value was removed
   */
  static int fetch(BlockManager blockManager, long value, int piece, byte[] target, int offset) {
    BlockId block = id(value, piece);
    Option<ChunkedByteBuffer> bytes = blockManager.getRemoteBytes(block);
    if (bytes.isEmpty()) {
      throw gone(block);
    }
    ChunkedByteBuffer content = bytes.get();
    int end = offset;
    try {
      for (ByteBuffer part : content.getChunks()) {
        int length = part.remaining();
        if (length > target.length - end) {
          throw new StoreException(
              "Block " + block + " has " + content.size() + " bytes, which are too many");
        }
        part.get(target, end, length);
        end += length;
      }
    } finally {
      content.dispose();
    }
    return end - offset;
  }
}
