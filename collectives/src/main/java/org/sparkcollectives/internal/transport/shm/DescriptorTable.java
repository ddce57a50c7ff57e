package org.sparkcollectives.internal.transport.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.transport.OperationHeader;

/**
 * The table in which the ranks of a group on one host tell each other, operation by operation,
 * which memory they work on. It has a page for each rank, which only that rank writes:
 *
 * <pre>
 *     0  the last operation for which it has published descriptors
 *   128  the last operation with which it is done
 *   256  how far it is in its operation
 *   384  the first operation whose tensors may change; 0 for none
 *   512  the descriptors for even operations, 2304 for odd ones:
 *          the operation, a {@link HeaderRecord}
 *          number of tensors, or -1 if one is not shared, i32 | 0 i32
 *          for each tensor: process i32 | descriptor i32 | nonce 16 | file's bytes i64 | offset i64
 *            | count i64 | type i32 | 1 i32 if the others may write to it, else 0
 * </pre>
 *
 * <p>The descriptors of an operation are overwritten two operations later, when all ranks have
 * published for the one between and so are done with it.
 */
final class DescriptorTable {

  /** The most tensors that a rank can publish for an operation. */
  static final int MOST_TENSORS = 24;

  private static final int PAGE = 4096;
  private static final int DONE = 128;
  private static final int PROGRESS = 256;
  private static final int GAVE_UP = 384;
  private static final int EVEN = 512;
  private static final int ODD = 2304;
  private static final int TENSORS = HeaderRecord.BYTES;
  private static final int FIRST_TENSOR = TENSORS + 8;
  private static final int TENSOR_BYTES = 56;
  private static final int PRIVATE = -1;
  private static final DType[] DTYPES = DType.values();
  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  /**
   * The place of a rank's tensor.
   *
   * @param key the file in which it lies
   * @param nonce the file's proof
   * @param fileBytes the file's size
   * @param offset where the tensor begins in the file, in bytes
   * @param scratch whether the other ranks may write to it
   */
  record Descriptor(
      SharedFile.Key key,
      byte[] nonce,
      int fileBytes,
      int offset,
      long count,
      DType dtype,
      boolean scratch) {}

  private final ByteBuffer memory;
  private final int rank;
  private final int size;

  /** Creates a view of the table in {@code memory}, from offset 0 on. */
  DescriptorTable(ByteBuffer memory, int rank, int size) {
    this.memory = memory;
    this.rank = rank;
    this.size = size;
  }

  /** Returns the size of a table. */
  static int bytes(int ranks) {
    return ranks * PAGE;
  }

  private static int record(int ofRank, long operation) {
    return ofRank * PAGE + (operation % 2 == 0 ? EVEN : ODD);
  }

  /**
   * Publishes this rank's descriptors for an operation.
   *
   * @param tensors null if one of them is not shared
   */
  void publish(long operation, OperationHeader header, List<Descriptor> tensors) {
    int at = record(rank, operation);
    HeaderRecord.write(memory, at, header);
    memory.putInt(at + TENSORS, tensors == null ? PRIVATE : tensors.size());
    ByteBuffer out = memory.duplicate().order(ByteOrder.nativeOrder()).position(at + FIRST_TENSOR);
    if (tensors != null) {
      for (Descriptor each : tensors) {
        out.putInt(each.key.process()).putInt(each.key.descriptor()).put(each.nonce);
        out.putLong(each.fileBytes).putLong(each.offset).putLong(each.count);
        out.putInt(each.dtype.ordinal()).putInt(each.scratch ? 1 : 0);
      }
    }
    LONGS.setRelease(memory, rank * PAGE, operation);
  }

  /** Returns whether all ranks have published descriptors for an operation. */
  boolean allPublished(long operation) {
    return allAtLeast(0, operation);
  }

  /** Publishes that this rank is done with an operation. */
  void done(long operation) {
    LONGS.setRelease(memory, rank * PAGE + DONE, operation);
  }

  /** Returns whether all ranks are done with an operation. */
  boolean allDone(long operation) {
    return allAtLeast(DONE, operation);
  }

  private boolean allAtLeast(int offset, long operation) {
    for (int each = 0; each < size; each++) {
      if ((long) LONGS.getAcquire(memory, each * PAGE + offset) < operation) {
        return false;
      }
    }
    return true;
  }

  /** Publishes how much of its result this rank has written to its tensors. */
  void setProgress(long amount) {
    LONGS.setRelease(memory, rank * PAGE + PROGRESS, amount);
  }

  /** Returns how much a rank has written in its operation. */
  long progress(int peer) {
    return (long) LONGS.getAcquire(memory, peer * PAGE + PROGRESS);
  }

  /** Publishes that this rank's tensors of an operation, and of later ones, may change. */
  void giveUp(long operation) {
    LONGS.setVolatile(memory, rank * PAGE + GAVE_UP, operation);
    // What the user writes comes after it.
    VarHandle.fullFence();
  }

  /** Returns whether a rank may have changed what this one has read for an operation. */
  boolean mayHaveChanged(long operation) {
    // What was read before is read: the check comes after it.
    VarHandle.acquireFence();
    for (int each = 0; each < size; each++) {
      long since = (long) LONGS.getAcquire(memory, each * PAGE + GAVE_UP);
      if (since != 0 && since <= operation) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether all ranks are in the same operation. */
  boolean isSame(long operation, OperationHeader header) {
    for (int each = 0; each < size; each++) {
      if (!HeaderRecord.is(memory, record(each, operation), header)) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether all ranks are in the same operation with tensors that are shared. */
  boolean isShared(long operation, OperationHeader header) {
    for (int each = 0; each < size; each++) {
      if (memory.getInt(record(each, operation) + TENSORS) == PRIVATE) {
        return false;
      }
    }
    return isSame(operation, header);
  }

  /** Returns the descriptor of a rank's tensor; null if there is none at this index. */
  Descriptor descriptor(int peer, long operation, int index) {
    int at = record(peer, operation);
    if (index >= memory.getInt(at + TENSORS)) {
      return null;
    }
    ByteBuffer in =
        memory
            .duplicate()
            .order(ByteOrder.nativeOrder())
            .position(at + FIRST_TENSOR + index * TENSOR_BYTES);
    SharedFile.Key key = new SharedFile.Key(in.getInt(), in.getInt());
    byte[] nonce = new byte[SharedFile.NONCE_BYTES];
    in.get(nonce);
    int fileBytes = (int) in.getLong();
    int offset = (int) in.getLong();
    long count = in.getLong();
    DType dtype = DTYPES[in.getInt()];
    return new Descriptor(key, nonce, fileBytes, offset, count, dtype, in.getInt() != 0);
  }
}
