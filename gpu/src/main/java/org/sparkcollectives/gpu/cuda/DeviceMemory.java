package org.sparkcollectives.gpu.cuda;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

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

  /** Ends the part of whoever has the memory, once. */
  private final Runnable end;

  private DeviceMemory(Allocation allocation, Runnable end) {
    this.allocation = allocation;
    this.end = end;
  }

  private DeviceMemory(Allocation allocation) {
    this.allocation = allocation;
    this.end = GARBAGE.watch(this, allocation)::clean;
  }

  /** Who gets memory back that nobody uses any more. */
  public interface Owner {

    /**
     * On whichever thread has used it last; must not block.
     *
     * @param done false if the GPU may not have done with it
     */
    void giveBack(boolean done);
  }

  /** Memory that somebody else has allocated, who gets it back only when it is freed. */
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
   * New memory, of undefined content, for the calling thread's current stream; none if {@code
   * bytes} is 0.
   *
   * @throws CudaException if there is not so much
   * @throws IllegalStateException if the device is closed, and nothing else keeps its context
   */
  public static DeviceMemory allocate(CudaDevice device, long bytes) {
    if (bytes == 0) {
      return new DeviceMemory(null, () -> {});
    }
    PrimaryContext context = device.context();
    context.hold();
    try {
      long previous = context.enter();
      try {
        StreamKey stream = CudaStream.current(device).key();
        DeviceBlock block = context.allocator().allocate(bytes, stream);
        DeviceAllocator allocator = context.allocator();
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

  /** Where it is; 0 if there are no bytes. */
  public long address() {
    return allocation == null ? 0 : allocation.address;
  }

  /** Leaves it to others once no use keeps it. Does not block; idempotent. */
  public void free() {
    end.run();
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

  /** Whose it is, and how many use it. Run when whoever has it lets go of it. */
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
        owner.giveBack(safe);
      }
    }
  }
}
