package org.sparkcollectives.internal.transport.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.transport.SharedStaging;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * The staging buffers of a group on one host, as one of its ranks sees them. For each rank, and
 * written by that rank only:
 *
 * <pre>
 *     0  how many chunks it has copied in    (its own cache line)
 *   128  how many it has reduced             (its own cache line)
 *   256  how many it has copied out          (its own cache line)
 *   512  the buffers
 * </pre>
 *
 * <p>The counters go on from operation to operation. Each is written with release semantics after
 * what it tells of, and read with acquire semantics before that is touched.
 */
final class ShmStaging implements SharedStaging {

  private static final int DEPTH = 4;
  private static final int LARGEST_CHUNK = 128 * 1024;
  private static final int SMALLEST_CHUNK = 16 * 1024;

  /** The most bytes of all ranks' buffers together; chunks get smaller to stay below it. */
  private static final int MOST_BYTES = 32 << 20;

  private static final int LINE = 128;
  private static final int FIRST_BUFFER = 512;
  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private final SharedFile file;
  private final ByteBuffer memory;
  private final int rank;
  private final int size;
  private final int chunkBytes;
  private final Consumer<BooleanSupplier> wait;
  private final Runnable changed;
  private final BooleanSupplier isThere = this::isThere;
  private final HostTensor[][] buffers = new HostTensor[DType.values().length][];
  private int awaitedCounter;
  private long awaitedCount;
  private long before;

  /**
   * Creates a view of the buffers in {@code file}, which has {@link #bytes} bytes.
   *
   * @param wait waits until something is true that other processes make true
   * @param changed wakes those that wait for what this rank has made true
   */
  ShmStaging(
      SharedFile file, int rank, int size, Consumer<BooleanSupplier> wait, Runnable changed) {
    this.file = file;
    this.memory = file.memory();
    this.rank = rank;
    this.size = size;
    this.chunkBytes = chunkBytes(size);
    this.wait = wait;
    this.changed = changed;
  }

  private static int chunkBytes(int ranks) {
    int bytes = LARGEST_CHUNK;
    while (bytes > SMALLEST_CHUNK && (long) bytes * DEPTH * ranks > MOST_BYTES) {
      bytes /= 2;
    }
    return bytes;
  }

  private static int stride(int ranks) {
    return FIRST_BUFFER + DEPTH * chunkBytes(ranks);
  }

  /** Returns the size of the buffers of so many ranks. */
  static int bytes(int ranks) {
    return Math.multiplyExact(ranks, stride(ranks));
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public int chunkBytes() {
    return chunkBytes;
  }

  @Override
  public int depth() {
    return DEPTH;
  }

  @Override
  public HostTensor buffer(int ofRank, long chunk, DType dtype) {
    HostTensor[] ofType = buffers[dtype.ordinal()];
    if (ofType == null) {
      ofType = new HostTensor[size * DEPTH];
      buffers[dtype.ordinal()] = ofType;
    }
    int index = ofRank * DEPTH + (int) ((before + chunk) % DEPTH);
    if (ofType[index] == null) {
      int start = ofRank * stride(size) + FIRST_BUFFER + index % DEPTH * chunkBytes;
      ByteBuffer bytes = memory.slice(start, chunkBytes).order(ByteOrder.nativeOrder());
      ofType[index] = HostTensor.wrap(dtype, bytes);
    }
    return ofType[index];
  }

  private int counter(int ofRank, Phase phase) {
    return ofRank * stride(size) + phase.ordinal() * LINE;
  }

  @Override
  public void reached(Phase phase, long chunk) {
    LONGS.setRelease(memory, counter(rank, phase), before + chunk + 1);
    changed.run();
  }

  @Override
  public void await(int ofRank, Phase phase, long chunk) {
    awaitedCounter = counter(ofRank, phase);
    awaitedCount = before + chunk + 1;
    if (!isThere()) {
      wait.accept(isThere);
    }
  }

  private boolean isThere() {
    return (long) LONGS.getAcquire(memory, awaitedCounter) >= awaitedCount;
  }

  @Override
  public void finish(long chunks) {
    before += chunks;
  }

  /** Unmaps the buffers; when no thread can touch them any more. */
  void free() {
    file.close();
  }
}
