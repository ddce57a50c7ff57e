package org.sparkcollectives.transport.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.sparkcollectives.DType;

/**
 * Where the ranks of a group on one host show each other, operation by operation, which memory they
 * work on. One page for each rank, which only that rank writes:
 *
 * <pre>
 *     0  the last operation for which it has shown
 *   128  the last operation with which it is done
 *   256  what it shows for even operations, 2048 for odd ones:
 *          digest of the operation i64 | number of tensors, or -1 if one is not shared, i32 | 0 i32
 *          for each tensor: process i32 | descriptor i32 | nonce 16 | file's bytes i64 | offset i64
 *            | count i64 | type i32 | 0 i32
 * </pre>
 *
 * <p>What was shown for an operation is overwritten two operations later, when all ranks have shown
 * for the one between and so are done with it.
 */
final class SharedBoard {

  /** How many tensors a rank can show for an operation. */
  static final int MOST_TENSORS = 24;

  private static final int PAGE = 4096;
  private static final int DONE = 128;
  private static final int EVEN = 256;
  private static final int ODD = 2048;
  private static final int FIRST_TENSOR = 16;
  private static final int TENSOR_BYTES = 56;
  private static final int PRIVATE = -1;
  private static final DType[] DTYPES = DType.values();
  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  /**
   * A tensor that a rank shows.
   *
   * @param key the file in which it lies
   * @param nonce the file's proof
   * @param fileBytes the file's size
   * @param offset where the tensor begins in the file, in bytes
   */
  record Shown(
      SharedFile.Key key, byte[] nonce, int fileBytes, int offset, long count, DType dtype) {}

  private final ByteBuffer memory;
  private final int rank;
  private final int size;

  /** The board in {@code memory}, from offset 0 on. */
  SharedBoard(ByteBuffer memory, int rank, int size) {
    this.memory = memory;
    this.rank = rank;
    this.size = size;
  }

  /** The size of a board. */
  static int bytes(int ranks) {
    return ranks * PAGE;
  }

  private static int record(int ofRank, long operation) {
    return ofRank * PAGE + (operation % 2 == 0 ? EVEN : ODD);
  }

  /** Shows {@code tensors}; null if one of them is not shared. */
  void show(long operation, long digest, List<Shown> tensors) {
    int at = record(rank, operation);
    memory.putLong(at, digest).putInt(at + Long.BYTES, tensors == null ? PRIVATE : tensors.size());
    ByteBuffer out = memory.duplicate().order(ByteOrder.nativeOrder()).position(at + FIRST_TENSOR);
    if (tensors != null) {
      for (Shown each : tensors) {
        out.putInt(each.key.process()).putInt(each.key.descriptor()).put(each.nonce);
        out.putLong(each.fileBytes).putLong(each.offset).putLong(each.count);
        out.putInt(each.dtype.ordinal()).putInt(0);
      }
    }
    LONGS.setRelease(memory, rank * PAGE, operation);
  }

  /** Whether all ranks have shown for an operation. */
  boolean allShow(long operation) {
    return allAtLeast(0, operation);
  }

  /** Says that this rank is done with an operation. */
  void done(long operation) {
    LONGS.setRelease(memory, rank * PAGE + DONE, operation);
  }

  /** Whether all ranks are done with an operation. */
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

  /** Whether all ranks are in the same operation. */
  boolean isSame(long operation, long digest) {
    for (int each = 0; each < size; each++) {
      if (memory.getLong(record(each, operation)) != digest) {
        return false;
      }
    }
    return true;
  }

  /** Whether all ranks are in the same operation with tensors that are shared. */
  boolean isShared(long operation, long digest) {
    for (int each = 0; each < size; each++) {
      if (memory.getInt(record(each, operation) + Long.BYTES) == PRIVATE) {
        return false;
      }
    }
    return isSame(operation, digest);
  }

  /** A tensor that a rank shows; null if it shows none at this place. */
  Shown shownBy(int peer, long operation, int index) {
    int at = record(peer, operation);
    if (index >= memory.getInt(at + Long.BYTES)) {
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
    return new Shown(key, nonce, fileBytes, offset, in.getLong(), DTYPES[in.getInt()]);
  }
}
