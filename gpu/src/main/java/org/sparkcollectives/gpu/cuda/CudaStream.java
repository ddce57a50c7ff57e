package org.sparkcollectives.gpu.cuda;

import org.sparkcollectives.Device;
import org.sparkcollectives.DeviceStream;

/**
 * A stream of a GPU: one made here, the default one, or one that another library has made.
 *
 * <p>As in CUDA's own libraries a thread has a current stream on each device, into which copies of
 * tensors go and for which collectives wait: the default one, unless {@link #use} says otherwise.
 */
public final class CudaStream implements DeviceStream, AutoCloseable {

  @SuppressWarnings("ThreadLocalUsage") // One a thread, of whichever device it was used for last.
  private static final ThreadLocal<CudaStream> CURRENT = new ThreadLocal<>();

  private final CudaDevice device;
  private final long handle;

  /** Null if another library owns it. */
  private final StreamKey own;

  private boolean closed;

  private CudaStream(CudaDevice device, long handle, StreamKey own) {
    this.device = device;
    this.handle = handle;
    this.own = own;
  }

  /** A new stream that does not wait for the default one. To be closed. */
  public static CudaStream create(CudaDevice device, boolean highPriority) {
    long previous = device.enter();
    try {
      int[] priorities = device.cuda().streamPriorities();
      long handle = device.cuda().createStream(priorities[highPriority ? 1 : 0]);
      return new CudaStream(device, handle, StreamKey.own());
    } finally {
      device.leave(previous);
    }
  }

  /** The default stream of a device. */
  public static CudaStream defaultOf(CudaDevice device) {
    return new CudaStream(device, Cuda.DEFAULT_STREAM, null);
  }

  /**
   * A stream that another library has made and will let go of.
   *
   * @param handle the {@code CUstream} or {@code cudaStream_t}, such as torch's {@code cuda_stream}
   */
  public static CudaStream foreign(CudaDevice device, long handle) {
    return new CudaStream(device, handle, null);
  }

  /** The calling thread's current stream on a device. */
  public static CudaStream current(CudaDevice device) {
    CudaStream current = CURRENT.get();
    return current != null && current.device.ordinal() == device.ordinal()
        ? current
        : defaultOf(device);
  }

  /** Gives the thread back the stream that it had. */
  public interface Use extends AutoCloseable {
    @Override
    void close();
  }

  /** Makes this the calling thread's current stream until the use is closed. */
  public Use use() {
    CudaStream before = CURRENT.get();
    CURRENT.set(this);
    return () -> {
      if (before == null) {
        CURRENT.remove();
      } else {
        CURRENT.set(before);
      }
    };
  }

  @Override
  public Device device() {
    return device.device();
  }

  @Override
  public long handle() {
    return handle;
  }

  /** To which memory belongs that is allocated in it. The device is that of the thread. */
  StreamKey key() {
    if (own != null) {
      return own;
    }
    return handle == Cuda.DEFAULT_STREAM
        ? StreamKey.DEFAULT
        : StreamKey.foreign(device.cuda(), handle);
  }

  /** Blocks until all is done that was put into the stream. */
  public void synchronize() {
    long previous = device.enter();
    try {
      device.cuda().synchronizeStream(handle);
    } finally {
      device.leave(previous);
    }
  }

  /**
   * Lets go of a stream that was made here; what is in it is still done. What was allocated in it
   * stays, but is not used for other tensors once it is free, see {@link CudaDevice#emptyCache}.
   * Idempotent.
   */
  @Override
  public void close() {
    synchronized (this) {
      if (closed || own == null) {
        return;
      }
      closed = true;
    }
    long previous = device.enter();
    try {
      device.cuda().destroyStream(handle);
    } finally {
      device.leave(previous);
    }
  }

  @Override
  public String toString() {
    return "stream 0x" + Long.toHexString(handle) + " of " + device();
  }
}
