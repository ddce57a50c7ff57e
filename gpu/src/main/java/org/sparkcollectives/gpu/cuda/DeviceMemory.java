package org.sparkcollectives.gpu.cuda;

import java.util.List;

/**
 * A piece of a GPU's memory. It is free for others once somebody says so, or nobody can reach it,
 * and no {@link MemoryUse} keeps it. Neither of these blocks; nor does an allocation, but where the
 * GPU has no more, see {@link CudaDevice#emptyCache}. It keeps the GPU's context. Thread-safe.
 *
 * <p>It belongs to the stream that was the thread's current one at the allocation: what was
 * allocated in one stream and is used in another must be kept until that is done there, as in
 * PyTorch.
 */
public final class DeviceMemory {

  /** What it does for memory does not block, so one is enough for all GPUs. */
  private static final GarbageWatch GARBAGE = new GarbageWatch("collectives-gpu-memory");

  /** Null if there are no bytes. */
  private final Allocation allocation;

  /** Null if there are no bytes. */
  private final GarbageWatch.Watched owned;

  private DeviceMemory(Allocation allocation) {
    this.allocation = allocation;
    this.owned = allocation == null ? null : GARBAGE.watch(this, allocation);
  }

  /**
   * New memory, of undefined content, for the calling thread's current stream; none if {@code
   * bytes} is 0.
   *
   * @throws CudaException if there is not so much
   * @throws IllegalStateException if the device is closed, and nothing else keeps its context
   */
  public static DeviceMemory allocate(CudaDevice device, long bytes) {
    if (bytes == 0) {
      return new DeviceMemory(null);
    }
    PrimaryContext context = device.context();
    context.hold();
    try {
      long previous = context.enter();
      try {
        StreamKey stream = CudaStream.current(device).key();
        DeviceBlock block = context.allocator().allocate(bytes, stream);
        return new DeviceMemory(new Allocation(context.allocator(), block));
      } finally {
        context.leave(previous);
      }
    } finally {
      context.releaseInBackground();
    }
  }

  /** Where it is; 0 if there are no bytes. */
  public long address() {
    return allocation == null ? 0 : allocation.block.address();
  }

  /** Leaves it to others once no use keeps it. Does not block; idempotent. */
  public void free() {
    if (owned != null) {
      owned.clean();
    }
  }

  /**
   * Keeps it for an operation.
   *
   * @throws IllegalStateException if it was freed
   */
  public MemoryUse use() {
    return MemoryUse.of(List.of(this));
  }

  Allocation allocation() {
    return allocation;
  }

  /** The block, and how many use it. Run when the owner lets go of it. */
  static final class Allocation implements Runnable {

    private final DeviceAllocator allocator;
    private final DeviceBlock block;
    private int users = 1;
    private boolean freed;
    private boolean safe = true;

    private Allocation(DeviceAllocator allocator, DeviceBlock block) {
      this.allocator = allocator;
      this.block = block;
    }

    synchronized void use() {
      if (freed) {
        throw new IllegalStateException(
            "Memory of a GPU is used after it was freed: "
                + block.bytes()
                + " bytes at 0x"
                + Long.toHexString(block.address()));
      }
      users++;
    }

    @Override
    public void run() {
      synchronized (this) {
        freed = true;
      }
      release(true);
    }

    /**
     * One less uses it.
     *
     * @param done false if the GPU may not have done with it
     */
    void release(boolean done) {
      boolean last;
      synchronized (this) {
        safe &= done;
        users--;
        last = users == 0;
      }
      if (last) {
        allocator.giveBack(block, safe);
      }
    }
  }
}
