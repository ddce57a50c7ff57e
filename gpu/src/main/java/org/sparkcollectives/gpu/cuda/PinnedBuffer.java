package org.sparkcollectives.gpu.cuda;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Host memory that a GPU copies from and to by itself, while the host continues. Close it when no
 * copy uses it any more.
 */
public final class PinnedBuffer implements AutoCloseable {

  private final PrimaryContext context;
  private final HostMemory memory;
  private boolean closed;

  private PinnedBuffer(PrimaryContext context, HostMemory memory) {
    this.context = context;
    this.memory = memory;
  }

  /** Pins a buffer of at least one byte. */
  static PinnedBuffer allocate(PrimaryContext context, int bytes) {
    long previous = context.enter();
    try {
      return new PinnedBuffer(context, context.cuda().allocateHost(Math.max(bytes, 1)));
    } finally {
      context.leave(previous);
    }
  }

  /** Returns the address. */
  public long address() {
    return memory.address();
  }

  /** Returns a view of the whole buffer, in native byte order, with its own position. */
  public ByteBuffer buffer() {
    return memory.buffer().duplicate().clear().order(ByteOrder.nativeOrder());
  }

  /** Returns the size in bytes. */
  public int size() {
    return memory.buffer().capacity();
  }

  /**
   * Leaves the buffer to the garbage collector instead of {@link #close}: it is freed once no view
   * of it is reachable, and the GPU has finished.
   *
   * @param cleaner its thread frees the buffer
   * @param then runs after that
   */
  void closeWhenUnreachable(ResourceCleaner cleaner, Runnable then) {
    if (!beginClose()) {
      return;
    }
    PrimaryContext owner = context;
    HostMemory address = new HostMemory(memory.address(), null);
    cleaner.register(
        memory.buffer(),
        () -> {
          try {
            freeWhenIdle(owner, address);
          } finally {
            then.run();
          }
        });
  }

  private static void freeWhenIdle(PrimaryContext context, HostMemory memory) {
    long previous = context.enter();
    try {
      // A copy from it or to it may not be done, and cuMemFreeHost does not promise to wait.
      context.attempt(context.cuda()::synchronizeContext);
      context.cuda().freeHost(memory);
    } finally {
      context.leave(previous);
    }
  }

  private synchronized boolean beginClose() {
    boolean first = !closed;
    closed = true;
    return first;
  }

  private static void free(PrimaryContext context, HostMemory memory) {
    long previous = context.enter();
    try {
      context.cuda().freeHost(memory);
    } finally {
      context.leave(previous);
    }
  }

  /** Frees the buffer; idempotent. */
  @Override
  public void close() {
    if (beginClose()) {
      free(context, memory);
    }
  }
}
