package org.sparkcollectives.gpu.cuda;

import java.util.HexFormat;
import org.sparkcollectives.Device;

/**
 * A GPU of this process, with the context that all libraries of the process share on it.
 *
 * <p>The driver needs a context to be current on each thread that calls it. {@link #enter} makes
 * this one current for the calls that follow; {@link #leave} restores the previous one:
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
  private final SharedDevice shared;
  private final PrimaryContext context;
  private boolean closed;

  private CudaDevice(SharedDevice shared) {
    this.shared = shared;
    this.context = shared.context();
    this.cuda = context.cuda();
    this.ordinal = context.ordinal();
  }

  /**
   * Opens a GPU by its number among those that this process sees. The caller closes it.
   *
   * @throws IllegalArgumentException if there is no GPU of that number
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
    return new CudaDevice(SharedDevice.of(cuda, ordinal));
  }

  /**
   * Makes this device current on the calling thread, until {@link #leave}.
   *
   * @return the argument for {@link #leave}
   */
  public long enter() {
    return context.enter();
  }

  /**
   * Restores the context that the thread had before {@link #enter}. If it had none, or that one is
   * gone, this device stays current.
   */
  public void leave(long previous) {
    context.leave(previous);
  }

  SharedDevice shared() {
    return shared;
  }

  /**
   * Returns the pinned buffers for copies from and to this device, which the whole process shares.
   */
  public PinnedPool pinnedPool() {
    return shared.pinned();
  }

  /** Pins a buffer of at least one byte, for the caller alone. */
  public PinnedBuffer pin(int bytes) {
    return PinnedBuffer.allocate(context, bytes);
  }

  /**
   * Returns the bytes of the device that tensors of this process use, each rounded up to the size
   * requested of the driver: {@code torch.cuda.memory_allocated}. Memory of other libraries does
   * not count, nor memory that NCCL has allocated.
   */
  public long memoryAllocated() {
    return shared.allocator().allocatedBytes();
  }

  /**
   * Returns the bytes that this process holds of the driver, in use and kept for later tensors:
   * {@code torch.cuda.memory_reserved}.
   */
  public long memoryReserved() {
    return shared.allocator().reservedBytes();
  }

  /**
   * Gives the memory kept for later tensors back to the driver, so that other libraries and
   * processes may have it: {@code torch.cuda.empty_cache}; and the pinned host memory that is kept
   * for later copies to the system. Blocks until the device has done all work in its streams. So it
   * must not be called between operations whose peers wait for what this rank does next.
   */
  public void emptyCache() {
    shared.allocator().freeIdle();
    shared.pinned().freeIdle();
  }

  /** Returns the driver. */
  public Cuda cuda() {
    return cuda;
  }

  /** Returns the device as tensors name it. */
  public Device device() {
    return Device.cuda(ordinal);
  }

  /** Returns its number among the GPUs that this process sees. */
  public int ordinal() {
    return ordinal;
  }

  /** Returns the UUID, as {@code nvidia-smi -L} prints it. */
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
   * Releases the device; idempotent. Others in the process may keep using it, and its tensors stay
   * valid. The last release of a device without tensors frees the memory that was kept: it then
   * blocks until the device has done all work in its streams, for 5 s at the most.
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
