package org.sparkcollectives.gpu.cuda;

import org.sparkcollectives.Device;
import org.sparkcollectives.DeviceStream;

/**
 * A stream of a GPU: one created here, the default one, or one that another library has created.
 *
 * <p>As in CUDA's own libraries, a thread has a current stream on each device. Copies of tensors go
 * into it, and collectives wait for it. It is the default stream unless {@link #use} sets another.
 */
public final class CudaStream implements DeviceStream, AutoCloseable {

  @SuppressWarnings("ThreadLocalUsage") // One per thread, of the device for which it was used last.
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

  /** Creates a stream that does not wait for the default one. The caller closes it. */
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

  /** Returns the default stream of a device. */
  public static CudaStream defaultOf(CudaDevice device) {
    return new CudaStream(device, Cuda.DEFAULT_STREAM, null);
  }

  /**
   * Wraps a stream that another library has created and will destroy.
   *
   * @param handle the {@code CUstream} or {@code cudaStream_t}, such as torch's {@code cuda_stream}
   */
  public static CudaStream foreign(CudaDevice device, long handle) {
    return new CudaStream(device, handle, null);
  }

  /** Returns the calling thread's current stream on a device. */
  public static CudaStream current(CudaDevice device) {
    CudaStream current = CURRENT.get();
    return current != null && current.device.ordinal() == device.ordinal()
        ? current
        : defaultOf(device);
  }

  /** Restores the thread's previous stream when it is closed. */
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

  /**
   * Returns the key of memory that is allocated in this stream. The device must be current on the
   * thread.
   */
  StreamKey key() {
    if (own != null) {
      return own;
    }
    return handle == Cuda.DEFAULT_STREAM
        ? StreamKey.DEFAULT
        : StreamKey.foreign(device.cuda(), handle);
  }

  /** Blocks until all work in the stream is done. */
  public void synchronize() {
    long previous = device.enter();
    try {
      device.cuda().synchronizeStream(handle);
    } finally {
      device.leave(previous);
    }
  }

  /**
   * Destroys a stream that was created here; the work in it still completes. Memory allocated in it
   * stays valid, but is not reused for other tensors once it is free, see {@link
   * CudaDevice#emptyCache}. Idempotent.
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
