package org.sparkcollectives.gpu.cuda;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.sparkcollectives.Device;

/**
 * The memory of one GPU, for all of the process. What is given back is kept, and given to the next
 * who wants as much in the same stream. Thread-safe.
 *
 * <p>The semantics are those of PyTorch's {@code CUDACachingAllocator}, for its reason: {@code
 * cuMemFree} may wait for the GPU, and so for this rank's own collective, whose peers wait for what
 * this rank does next. A block belongs to the stream that was the current one when it was
 * allocated. Whoever has it next puts work into that stream behind what is there already, so
 * neither giving back nor taking asks the GPU. Who uses memory in another stream has to keep it
 * until that is done. Nobody gets the blocks of a stream that is gone, because no other stream is
 * taken for it, nor those that the GPU may still use after a failure. They, and all others that are
 * idle, go back to the driver when it has no more, and then, and only then, is the GPU waited for.
 *
 * <p>Unlike there a block is never cut: sizes are rounded so that those of about one size share
 * blocks, and how small ones lie together is left to the driver.
 *
 * <p>Not {@code cuMemAllocAsync}, although it does much of this: access of another GPU to its
 * memory has to be set pool by pool, its addresses cannot be handed to other processes as those of
 * {@code cuMemAlloc} are, and NCCL wants both, for ranks in one process and in several.
 */
final class DeviceAllocator {

  private static final long SMALL_STEP = 512;
  private static final long LARGEST_SMALL = 1 << 20;
  private static final long LARGE_STEP = 2 << 20;

  /** As long as the JVM waits for direct buffers that are garbage. */
  private static final long GARBAGE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final PrimaryContext context;
  private final IdleBlocks idle = new IdleBlocks();
  private long allocated;

  /** How often a block was given back. */
  private long returns;

  /** Who gives idle memory to the driver: who needs it too must wait until that is done. */
  private final ReentrantLock freeing = new ReentrantLock();

  DeviceAllocator(PrimaryContext context) {
    this.context = context;
  }

  /** In steps, which those of about one size have in common. */
  static long blockSize(long bytes) {
    long step = bytes <= LARGEST_SMALL ? SMALL_STEP : LARGE_STEP;
    return bytes > Long.MAX_VALUE - step ? bytes : (bytes + step - 1) / step * step;
  }

  /**
   * Memory of undefined content. Blocks for the GPU if there is no more: then all that is idle goes
   * back to the driver, and if that is not enough, what the garbage collector finds. The context is
   * that of the thread.
   *
   * @throws CudaException if there is not so much, saying who has it
   */
  DeviceBlock allocate(long bytes, StreamKey stream) {
    context.hold();
    DeviceBlock block = null;
    try {
      long size = blockSize(bytes);
      block = firstOf(() -> reuse(size, stream), () -> ask(size, stream));
      if (block == null) {
        freeIdle();
        block = firstOf(() -> ask(size, stream), () -> afterGarbage(size, stream));
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

  /** Asks the driver; null if it has not so much. */
  private DeviceBlock ask(long size, StreamKey stream) {
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
   * Has the garbage collector look for tensors that nobody can reach: a full GPU alone is no reason
   * for it to come. As the JVM does when it has no more memory for direct buffers.
   */
  private DeviceBlock afterGarbage(long size, StreamKey stream) {
    long seen = returns();
    System.gc();
    long deadline = System.nanoTime() + GARBAGE_NANOS;
    DeviceBlock block = null;
    while (block == null && awaitReturn(seen, deadline)) {
      seen = returns();
      block = reuse(size, stream);
      if (block == null) {
        freeIdle();
        block = ask(size, stream);
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
   * Takes back what nobody uses, but for what is in its stream now. Does not block, nor call the
   * driver.
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

  /** What is in use, rounded up to what the driver was asked for. */
  synchronized long allocatedBytes() {
    return allocated;
  }

  /** What is kept for the next who wants it. */
  synchronized long idleBytes() {
    return idle.bytes();
  }

  /** What is in use or kept. */
  synchronized long reservedBytes() {
    return allocated + idle.bytes();
  }

  /** Gives all that is idle to the driver, and blocks until the GPU has done what uses it. */
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
      // cuMemFree may wait for the GPU, but is not said to do so always.
      context.attempt(context.cuda()::synchronizeContext);
      for (DeviceBlock each : blocks) {
        context.attempt(() -> free(each));
      }
    } finally {
      context.leave(previous);
    }
  }

  private void free(DeviceBlock block) {
    // Another library may have reset the GPU: another block is then where it was, or none.
    if (context.cuda().allocationId(block.address()) == block.id()) {
      context.cuda().free(block.address());
    }
  }
}
