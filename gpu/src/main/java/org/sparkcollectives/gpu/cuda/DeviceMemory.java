package org.sparkcollectives.gpu.cuda;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A piece of a GPU's memory. It is free for reuse once it was freed, or is unreachable, and no
 * {@link MemoryUse} keeps it. Freeing does not block. Allocating blocks only if the GPU has no
 * memory left, see {@link CudaDevice#emptyCache}. A piece keeps the GPU's context. Thread-safe.
 *
 * <p>It belongs to the stream that was current on the thread at the allocation. Memory that was
 * allocated in one stream and is used in another must be kept until that use is done, as in
 * PyTorch.
 */
public final class DeviceMemory {

  /** Shared by all GPUs, because its actions for memory do not block. */
  private static final ResourceCleaner CLEANER = new ResourceCleaner("collectives-gpu-memory");

  /** Null for a size of 0. */
  private final Allocation allocation;

  /** Ends the owner's hold on the memory, once. */
  private final Runnable end;

  private DeviceMemory(Allocation allocation, Runnable end) {
    this.allocation = allocation;
    this.end = end;
  }

  private DeviceMemory(Allocation allocation) {
    this.allocation = allocation;
    this.end = CLEANER.register(this, allocation)::clean;
  }

  /** Takes memory back that nobody uses any more. */
  public interface Owner {

    /**
     * Takes the memory back. Runs on the thread that used it last; must not block.
     *
     * @param done false if the GPU may still use it
     */
    void giveBack(boolean done);
  }

  /**
   * Wraps memory that somebody else has allocated. The owner takes it back only when it is freed.
   */
  public static DeviceMemory of(long address, long bytes, Owner owner) {
    Allocation allocation = new Allocation(owner, address, bytes);
    AtomicBoolean ended = new AtomicBoolean();
    return new DeviceMemory(
        allocation,
        () -> {
          if (ended.compareAndSet(false, true)) {
            allocation.run();
          }
        });
  }

  /**
   * Allocates memory of undefined content for the calling thread's current stream; allocates
   * nothing if {@code bytes} is 0.
   *
   * @throws CudaException if there is not enough memory
   * @throws IllegalStateException if the device is closed, and nothing else keeps its context
   */
  public static DeviceMemory allocate(CudaDevice device, long bytes) {
    if (bytes == 0) {
      return new DeviceMemory(null, () -> {});
    }
    PrimaryContext context = device.shared().context();
    context.hold();
    try {
      long previous = context.enter();
      try {
        StreamKey stream = CudaStream.current(device).key();
        DeviceAllocator allocator = device.shared().allocator();
        DeviceBlock block = allocator.allocate(bytes, stream);
        return new DeviceMemory(
            new Allocation(
                done -> allocator.giveBack(block, done), block.address(), block.bytes()));
      } finally {
        context.leave(previous);
      }
    } finally {
      context.releaseInBackground();
    }
  }

  /** Returns the address, or 0 for a size of 0. */
  public long address() {
    return allocation == null ? 0 : allocation.address;
  }

  /** Frees the memory for reuse once no use keeps it. Does not block; idempotent. */
  public void free() {
    end.run();
  }

  /**
   * Keeps the memory for an operation.
   *
   * @throws IllegalStateException if it was freed
   */
  public MemoryUse use() {
    return MemoryUse.of(List.of(this));
  }

  Allocation allocation() {
    return allocation;
  }

  /**
   * The owner of the memory, and the number of its users. Runs when the holder of the memory frees
   * it.
   */
  static final class Allocation implements Runnable {

    private final Owner owner;
    private final long address;
    private final long bytes;
    private int users = 1;
    private boolean freed;
    private boolean safe = true;

    private Allocation(Owner owner, long address, long bytes) {
      this.owner = owner;
      this.address = address;
      this.bytes = bytes;
    }

    synchronized void use() {
      if (freed) {
        throw new IllegalStateException(
            "Memory of a GPU is used after it was freed: "
                + bytes
                + " bytes at 0x"
                + Long.toHexString(address));
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
     * Ends one use.
     *
     * @param done false if the GPU may still use it
     */
    void release(boolean done) {
      boolean last;
      synchronized (this) {
        safe &= done;
        users--;
        last = users == 0;
      }
      if (last) {
        owner.giveBack(safe);
      }
    }
  }
}
