package org.sparkcollectives.spark.internal.protocol;

import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BroadcastBlockId;
import org.sparkcollectives.store.ValueGoneException;

/**
 * The ids of the driver's blocks that hold the pieces of large values.
 *
 * <p>They are ids of broadcasts, because executors can parse such names. They begin far above the
 * ids that Spark counts up from 0.
 */
public final class BlockIds {

  private static final long FIRST_ID = 1L << 60;

  private BlockIds() {}

  /** Returns the id of the broadcast that consists of all pieces of a value. */
  public static long broadcast(long value) {
    return FIRST_ID + value;
  }

  /** Returns the id of the block that holds a piece of a value. */
  public static BlockId of(long value, int piece) {
    return new BroadcastBlockId(broadcast(value), "collectives_piece" + piece);
  }

  /** Creates the exception for a block that has been removed. */
  public static ValueGoneException gone(BlockId block) {
    return new ValueGoneException(
        "Block " + block + " of the driver's store is gone; its key was replaced or deleted");
  }
}
