package org.sparkcollectives.gpu.cuda;

import java.util.HexFormat;
import org.sparkcollectives.Device;

/**
 * A GPU of this process, with the context that all libraries of the process share on it.
 *
 * <p>The driver wants a context to be set on each thread that calls it; {@link #enter} does so for
 * the calls that follow, and gives the thread back what it had:
 *
 * <pre>{@code
 * long previous = device.enter();
 * try {
 *   device.cuda().recordEvent(event, stream);
 * } finally {
 *   device.leave(previous);
 * }
 * }</pre>
 */
public final class CudaDevice implements AutoCloseable {

  private final Cuda cuda;
  private final int ordinal;
  private final PrimaryContext context;
  private boolean closed;

  private CudaDevice(PrimaryContext context) {
    this.cuda = context.cuda();
    this.ordinal = context.ordinal();
    this.context = context;
  }

  /**
   * A GPU by its number among those that this process sees. To be closed.
   *
   * @throws IllegalArgumentException if there is none of that number
   */
  public static CudaDevice open(Cuda cuda, int ordinal) {
    int count = cuda.deviceCount();
    if (ordinal < 0 || ordinal >= count) {
      throw new IllegalArgumentException(
          "There is no GPU "
              + ordinal
              + ": this process sees "
              + count
              + ", counted from 0 (CUDA_VISIBLE_DEVICES is "
              + System.getenv("CUDA_VISIBLE_DEVICES")
              + ")");
    }
    return new CudaDevice(PrimaryContext.of(cuda, ordinal));
  }

  /**
   * Makes this device that of the calling thread, until {@link #leave}.
   *
   * @return what is to be given to {@link #leave}
   */
  public long enter() {
    return context.enter();
  }

  /**
   * Gives the thread back what it had before {@link #enter}; if that was nothing, or is gone, this
   * stays.
   */
  public void leave(long previous) {
    context.leave(previous);
  }

  PrimaryContext context() {
    return context;
  }

  /** Pinned buffers for copies from and to this device, which all of the process shares. */
  public PinnedPool pinnedPool() {
    return context.pinned();
  }

  /**
   * The bytes of the device that tensors of this process have, each rounded up to what was asked of
   * the driver: {@code torch.cuda.memory_allocated}. Memory of other libraries does not count, nor
   * what NCCL has allocated.
   */
  public long memoryAllocated() {
    return context.allocator().allocatedBytes();
  }

  /**
   * The bytes that this process has of the driver, in use and kept for tensors to come: {@code
   * torch.cuda.memory_reserved}.
   */
  public long memoryReserved() {
    return context.allocator().reservedBytes();
  }

  /**
   * Gives the driver back what is kept for tensors to come, so that other libraries and processes
   * may have it: {@code torch.cuda.empty_cache}. Blocks until the device has done all that is in
   * its streams: not to be called between operations whose peers wait for what this rank does next.
   */
  public void emptyCache() {
    context.allocator().freeIdle();
  }

  /** The driver. */
  public Cuda cuda() {
    return cuda;
  }

  /** The device as tensors name it. */
  public Device device() {
    return Device.cuda(ordinal);
  }

  /** Its number among the GPUs that this process sees. */
  public int ordinal() {
    return ordinal;
  }

  /** What no other GPU has, as {@code nvidia-smi -L} writes it. */
  public String uuid() {
    String hex = HexFormat.of().formatHex(cuda.deviceUuid(ordinal));
    return "GPU-"
        + String.join(
            "-",
            hex.substring(0, 8),
            hex.substring(8, 12),
            hex.substring(12, 16),
            hex.substring(16, 20),
            hex.substring(20));
  }

  /**
   * Lets go of the device; idempotent. Others of the process may go on with it, and its tensors
   * stay as they are. The last one on a device without tensors has freed what was kept, and so
   * blocks until the device has done all that is in its streams, but for 5 s at the most.
   */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    context.release();
  }

  @Override
  public String toString() {
    return device() + " (" + cuda.deviceName(ordinal) + ", " + uuid() + ")";
  }
}
