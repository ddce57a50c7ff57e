package org.sparkcollectives.gpu.cuda;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.sparkcollectives.Device;

/**
 * The memory of one GPU, for the whole process. Freed memory is kept, and reused for the next
 * allocation of about that size in the same stream. Thread-safe.
 *
 * <p>The semantics are those of PyTorch's {@code CUDACachingAllocator}, for the same reason. {@code
 * cuMemFree} may wait for the GPU, and so for this rank's own collective, whose peers wait for what
 * this rank does next. A block belongs to the stream that was current when it was allocated. The
 * next user of the block enqueues its work in that stream behind the work that is there already; so
 * neither freeing nor reusing a block queries the GPU. Whoever uses memory in another stream must
 * keep it until that use is done. Two kinds of blocks are not reused: those of a stream that was
 * destroyed, because no other stream replaces it, and those that the GPU may still use after a
 * failure. They, and all other idle blocks, go back to the driver when it runs out of memory. Only
 * then does the allocator wait for the GPU.
 *
 * <p>Unlike there, a block is never split. Sizes are rounded so that allocations of about one size
 * share blocks, and the driver decides how small blocks are placed.
 *
 * <p>{@code cuMemAllocAsync} does much of this, but is not used: access from another GPU must be
 * set for each of its pools, and its addresses cannot be passed to other processes as those of
 * {@code cuMemAlloc} can. NCCL needs both, for ranks in one process and in several.
 */
final class DeviceAllocator {

  private static final long SMALL_STEP = 512;
  private static final long LARGEST_SMALL = 1 << 20;
  private static final long LARGE_STEP = 2 << 20;

  /** The time that the JVM waits for unreachable direct buffers. */
  private static final long COLLECTION_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final PrimaryContext context;
  private final IdleBlocks idle = new IdleBlocks();
  private long allocated;

  /** The number of times that a block was given back. */
  private long returns;

  /**
   * Held by the thread that gives idle memory to the driver; others that need memory wait for it.
   */
  private final ReentrantLock freeing = new ReentrantLock();

  DeviceAllocator(PrimaryContext context) {
    this.context = context;
  }

  /** Rounds a size up to a step that sizes close to it share. */
  static long blockSize(long bytes) {
    long step = bytes <= LARGEST_SMALL ? SMALL_STEP : LARGE_STEP;
    return bytes > Long.MAX_VALUE - step ? bytes : (bytes + step - 1) / step * step;
  }

  /**
   * Allocates memory of undefined content. If the driver has none left, gives all idle blocks back
   * to it and blocks for the GPU; if that is not enough, also frees the tensors that the garbage
   * collector finds. The context must be current on the thread.
   *
   * @throws CudaException if there is not enough, saying who holds it
   */
  DeviceBlock allocate(long bytes, StreamKey stream) {
    context.hold();
    DeviceBlock block = null;
    try {
      long size = blockSize(bytes);
      block = firstOf(() -> reuse(size, stream), () -> allocateFromDriver(size, stream));
      if (block == null) {
        freeIdle();
        block =
            firstOf(
                () -> allocateFromDriver(size, stream),
                () -> allocateAfterCollection(size, stream));
      }
      if (block == null) {
        throw outOfMemory(bytes);
      }
      return block;
    } finally {
      if (block == null) {
        context.releaseInBackground();
      }
    }
  }

  private static DeviceBlock firstOf(Supplier<DeviceBlock> first, Supplier<DeviceBlock> second) {
    DeviceBlock block = first.get();
    return block != null ? block : second.get();
  }

  private synchronized DeviceBlock reuse(long size, StreamKey stream) {
    DeviceBlock block = idle.take(size, stream);
    if (block != null) {
      allocated += block.bytes();
    }
    return block;
  }

  /** Allocates from the driver. Returns null if it has not enough memory. */
  private DeviceBlock allocateFromDriver(long size, StreamKey stream) {
    Cuda cuda = context.cuda();
    try {
      long address = cuda.allocate(size);
      DeviceBlock block = new DeviceBlock(address, size, cuda.allocationId(address), stream);
      synchronized (this) {
        allocated += size;
      }
      return block;
    } catch (CudaException e) {
      if (e.isOutOfMemory()) {
        return null;
      }
      throw e;
    }
  }

  /**
   * Runs the garbage collector to find unreachable tensors, because a full GPU alone does not
   * trigger it. The JVM does the same when it runs out of memory for direct buffers.
   */
  private DeviceBlock allocateAfterCollection(long size, StreamKey stream) {
    long seen = returns();
    System.gc();
    long deadline = System.nanoTime() + COLLECTION_NANOS;
    DeviceBlock block = null;
    while (block == null && awaitReturn(seen, deadline)) {
      seen = returns();
      block = reuse(size, stream);
      if (block == null) {
        freeIdle();
        block = allocateFromDriver(size, stream);
      }
    }
    return block;
  }

  private synchronized long returns() {
    return returns;
  }

  private synchronized boolean awaitReturn(long seen, long deadline) {
    try {
      for (long left = deadline - System.nanoTime();
          returns == seen && left > 0;
          left = deadline - System.nanoTime()) {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
      return returns != seen;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private CudaException outOfMemory(long bytes) {
    MemoryInfo gpu = context.cuda().memoryInfo();
    return new CudaException(
        Device.cuda(context.ordinal())
            + " has no memory for "
            + bytes
            + " bytes: of its "
            + gpu.total()
            + " bytes "
            + gpu.free()
            + " are free; tensors of this process have "
            + allocatedBytes()
            + ", and "
            + idleBytes()
            + " are kept for others. Free tensors that are not needed any more"
            + " (DeviceTensor.free), and see what other libraries and processes have on it",
        CudaException.OUT_OF_MEMORY);
  }

  /**
   * Takes back a block that nobody uses, except the work in its stream now. Neither blocks nor
   * calls the driver.
   *
   * @param safe false if the GPU may use it elsewhere than in its stream
   */
  void giveBack(DeviceBlock block, boolean safe) {
    synchronized (this) {
      allocated -= block.bytes();
      if (safe && block.stream().isKnown()) {
        idle.add(block);
      } else {
        idle.addStranded(block);
      }
      returns++;
      notifyAll();
    }
    context.releaseInBackground();
  }

  /** Returns the bytes in use, rounded up to the sizes requested of the driver. */
  synchronized long allocatedBytes() {
    return allocated;
  }

  /** Returns the bytes that are kept for later allocations. */
  synchronized long idleBytes() {
    return idle.bytes();
  }

  /** Returns the bytes that are in use or kept. */
  synchronized long reservedBytes() {
    return allocated + idle.bytes();
  }

  /**
   * Gives all idle blocks to the driver, and blocks until the GPU has done the work that uses them.
   */
  void freeIdle() {
    freeing.lock();
    try {
      List<DeviceBlock> blocks;
      synchronized (this) {
        blocks = idle.drain();
      }
      if (!blocks.isEmpty()) {
        free(blocks);
      }
    } finally {
      freeing.unlock();
    }
  }

  private void free(List<DeviceBlock> blocks) {
    long previous = context.enter();
    try {
      // cuMemFree may wait for the GPU, but does not promise to do so always.
      context.attempt(context.cuda()::synchronizeContext);
      for (DeviceBlock each : blocks) {
        context.attempt(() -> free(each));
      }
    } finally {
      context.leave(previous);
    }
  }

  private void free(DeviceBlock block) {
    // Another library may have reset the GPU: the address may then hold another block, or none.
    if (context.cuda().allocationId(block.address()) == block.id()) {
      context.cuda().free(block.address());
    }
  }
}
