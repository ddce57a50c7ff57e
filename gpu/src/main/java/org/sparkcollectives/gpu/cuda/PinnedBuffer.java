package org.sparkcollectives.gpu.cuda;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Host memory that a GPU copies from and to by itself, while the host goes on. To be closed when no
 * copy uses it any more.
 */
public final class PinnedBuffer implements AutoCloseable {

  private final CudaDevice device;
  private final HostMemory memory;
  private boolean closed;

  private PinnedBuffer(CudaDevice device, HostMemory memory) {
    this.device = device;
    this.memory = memory;
  }

  /** Of at least one byte. */
  public static PinnedBuffer allocate(CudaDevice device, int bytes) {
    long previous = device.enter();
    try {
      return new PinnedBuffer(device, device.cuda().allocateHost(Math.max(bytes, 1)));
    } finally {
      device.leave(previous);
    }
  }

  /** Where it is. */
  public long address() {
    return memory.address();
  }

  /** A view of all of it, in native byte order, with a position of its own. */
  public ByteBuffer buffer() {
    return memory.buffer().duplicate().clear().order(ByteOrder.nativeOrder());
  }

  /** Its size in bytes. */
  public int size() {
    return memory.buffer().capacity();
  }

  /** Frees it; idempotent. */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    long previous = device.enter();
    try {
      device.cuda().freeHost(memory);
    } finally {
      device.leave(previous);
    }
  }
}
