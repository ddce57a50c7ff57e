package org.sparkcollectives.gpu.cuda;

import java.util.HexFormat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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

  private static final Logger LOG = LoggerFactory.getLogger(CudaDevice.class);

  private final Cuda cuda;
  private final int ordinal;
  private final long context;
  private boolean closed;

  private CudaDevice(Cuda cuda, int ordinal, long context) {
    this.cuda = cuda;
    this.ordinal = ordinal;
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
    return new CudaDevice(cuda, ordinal, cuda.retainPrimaryContext(ordinal));
  }

  /**
   * Makes this device that of the calling thread, until {@link #leave}.
   *
   * @return what is to be given to {@link #leave}
   */
  public long enter() {
    long previous = cuda.currentContext();
    if (previous == context) {
      return 0;
    }
    cuda.setCurrentContext(context);
    return previous;
  }

  /**
   * Gives the thread back what it had before {@link #enter}; if that was nothing, or is gone, this
   * stays.
   */
  public void leave(long previous) {
    if (previous != 0) {
      try {
        cuda.setCurrentContext(previous);
      } catch (CudaException e) {
        // Threads of a pool outlive the groups, and with them the contexts, of earlier tasks.
        LOG.debug("What the thread had before {} is gone: {}", device(), e.toString());
      }
    }
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

  /** Lets go of the context; idempotent. Others of the process may go on with it. */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    cuda.releasePrimaryContext(ordinal);
  }

  @Override
  public String toString() {
    return device() + " (" + cuda.deviceName(ordinal) + ", " + uuid() + ")";
  }
}
