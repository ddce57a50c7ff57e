package org.sparkcollectives.gpu.cuda;

import java.lang.ref.Cleaner;
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

  /**
   * Leaves it to the garbage collector, in place of {@link #close}: freed once no view of it is
   * reachable any more.
   *
   * @param cleaner whose thread frees it
   * @param then run after that
   */
  public void closeWhenUnreachable(Cleaner cleaner, Runnable then) {
    if (!beginClose()) {
      return;
    }
    CudaDevice owner = device;
    HostMemory address = new HostMemory(memory.address(), null);
    cleaner.register(
        memory.buffer(),
        () -> {
          try {
            free(owner, address);
          } finally {
            then.run();
          }
        });
  }

  private synchronized boolean beginClose() {
    boolean first = !closed;
    closed = true;
    return first;
  }

  private static void free(CudaDevice device, HostMemory memory) {
    long previous = device.enter();
    try {
      device.cuda().freeHost(memory);
    } finally {
      device.leave(previous);
    }
  }

  /** Frees it; idempotent. */
  @Override
  public void close() {
    if (beginClose()) {
      free(device, memory);
    }
  }
}
