package org.sparkcollectives.internal.transport.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.SharedSlots;

/**
 * The memory of {@link SharedSlots}. For each rank, and written by that rank only:
 *
 * <pre>
 *     0  the last operation for which it has published         (its own cache line)
 *   128  the slot for even operations, 2304 for odd ones:
 *           0: the operation, a {@link HeaderRecord}
 *          64: what it gives
 * </pre>
 *
 * <p>A slot is overwritten two operations later. Its rank must then know that all have published
 * for the operation between, and so are done with it.
 */
final class SlotTable {

  private static final int EVEN = 128;
  private static final int DATA = 64;
  private static final int ODD = EVEN + 128 + SharedSlots.MOST_BYTES;
  private static final int STRIDE = 2 * ODD - EVEN;
  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private final ByteBuffer memory;
  private final ByteBuffer[] data;
  private final int rank;
  private final int size;

  /** Creates a view of the table in {@code memory}, from offset 0 on. */
  SlotTable(ByteBuffer memory, int rank, int size) {
    this.memory = memory;
    this.rank = rank;
    this.size = size;
    this.data = new ByteBuffer[2 * size];
    for (int each = 0; each < size; each++) {
      for (int parity = 0; parity < 2; parity++) {
        data[2 * each + parity] =
            memory
                .slice(slot(each, parity) + DATA, SharedSlots.MOST_BYTES)
                .order(ByteOrder.nativeOrder());
      }
    }
  }

  /** Returns the size of a table. */
  static int bytes(int ranks) {
    return ranks * STRIDE;
  }

  private static int slot(int ofRank, long operation) {
    return ofRank * STRIDE + ((operation & 1) == 0 ? EVEN : ODD);
  }

  /** Returns where this rank puts what it gives to an operation, before it publishes. */
  ByteBuffer free(long operation) {
    return data(rank, operation);
  }

  /** Returns what a rank gives to an operation. */
  ByteBuffer data(int ofRank, long operation) {
    return data[2 * ofRank + (int) (operation & 1)].clear();
  }

  void publish(long operation, OperationHeader header) {
    HeaderRecord.write(memory, slot(rank, operation), header);
    LONGS.setRelease(memory, rank * STRIDE, operation);
  }

  /** Returns whether a rank has published for an operation. */
  boolean isPublished(int ofRank, long operation) {
    return (long) LONGS.getAcquire(memory, ofRank * STRIDE) >= operation;
  }

  /** Returns whether all ranks have published for an operation. */
  boolean allPublished(long operation) {
    for (int each = 0; each < size; each++) {
      if (!isPublished(each, operation)) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether a rank has published for {@code header}. */
  boolean isOf(int ofRank, long operation, OperationHeader header) {
    return HeaderRecord.is(memory, slot(ofRank, operation), header);
  }

  /** Returns what a rank has published for. */
  OperationHeader header(int ofRank, long operation) {
    return HeaderRecord.read(memory, slot(ofRank, operation));
  }
}
