package org.sparkcollectives.internal.transport.shm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.testing.Threads;

/** Ranks that publish operation after operation, as fast as they can. */
class SlotTableTest {

  private static final int RANKS = 3;
  private static final int OPERATIONS = 50_000;

  /** A rank is an operation ahead of another at the most. */
  private static final int AHEAD = 10;

  /** The number of the last operation: rank 0 says so before another rank has come to it. */
  private final AtomicLong last = new AtomicLong(OPERATIONS);

  @Test
  void whatIsPublishedIsSeenWholeAndOverwrittenOnlyWhenAllAreDoneWithIt() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    ByteBuffer memory =
        ByteBuffer.allocateDirect(SlotTable.bytes(RANKS)).order(ByteOrder.nativeOrder());
    try (Threads threads = new Threads()) {
      threads.runTogether(
          RANKS,
          rank -> {
            run(new SlotTable(memory, rank, RANKS), rank, new Random(seed + rank));
            return null;
          });
    }
  }

  private void run(SlotTable table, int rank, Random pauses) {
    // Ranks that yield to others' work take long for each operation.
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    for (long operation = 1; operation <= last.get(); operation++) {
      if (rank == 0 && System.nanoTime() - end > 0) {
        last.compareAndSet(OPERATIONS, Math.min(OPERATIONS, operation + AHEAD));
      }
      long before = operation - 1;
      Spinning.until(() -> table.allPublished(before));
      ByteBuffer mine = table.free(operation);
      for (int i = 0; i < 8; i++) {
        mine.putLong(value(operation, rank, i));
      }
      table.publish(operation, header(operation));
      for (int i = pauses.nextInt(20); i > 0; i--) {
        Thread.onSpinWait();
      }
      for (int distance = 1; distance < RANKS; distance++) {
        check(table, (rank + distance) % RANKS, operation);
      }
    }
  }

  private static void check(SlotTable table, int peer, long operation) {
    Spinning.until(() -> table.isPublished(peer, operation));
    OperationHeader header = header(operation);
    boolean right =
        table.isOf(peer, operation, header) && table.header(peer, operation).equals(header);
    ByteBuffer data = table.data(peer, operation);
    for (int i = 0; i < 8; i++) {
      right &= data.getLong() == value(operation, peer, i);
    }
    if (!right) {
      throw new AssertionError("rank " + peer + " has not published this for " + operation);
    }
  }

  private static long value(long operation, int rank, int index) {
    return (operation * RANKS + rank) * 8 + index;
  }

  private static OperationHeader header(long operation) {
    return new OperationHeader(
        OpType.ALL_REDUCE,
        operation,
        DType.INT64,
        operation % 9,
        ReduceOp.Kind.SUM,
        OperationHeader.NO_ROOT,
        (int) operation * 31);
  }
}
