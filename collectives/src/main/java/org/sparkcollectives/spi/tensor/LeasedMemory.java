package org.sparkcollectives.spi.tensor;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Memory that is freed when it is closed and no longer used. A reader or writer acquires it before
 * and releases it after. Thread-safe; nothing blocks.
 */
public class LeasedMemory implements AutoCloseable {

  /** The bit that says closed; the others count the users of the memory. */
  private static final int CLOSED = Integer.MIN_VALUE;

  private final AtomicInteger state = new AtomicInteger();
  private final AtomicBoolean freed = new AtomicBoolean();
  private final Runnable free;

  /**
   * Creates a lease of memory that {@code free} frees, which is called once, by the thread that
   * uses it last.
   */
  public LeasedMemory(Runnable free) {
    this.free = free;
  }

  /**
   * Keeps the memory until {@link #release}.
   *
   * @throws IllegalStateException after {@link #close}
   */
  public void acquire() {
    if (state.getAndIncrement() < 0) {
      release();
      throw new IllegalStateException(
          "The memory of this tensor was closed, alone or with the group that has allocated it:"
              + " copy what is needed afterwards before that");
    }
  }

  /** Ends one use that {@link #acquire} began. */
  public void release() {
    if (state.decrementAndGet() == CLOSED) {
      freeOnce();
    }
  }

  /** Frees the memory, at once or when its last user has released it. */
  @Override
  public void close() {
    if (state.getAndUpdate(now -> now | CLOSED) == 0) {
      freeOnce();
    }
  }

  private void freeOnce() {
    if (freed.compareAndSet(false, true)) {
      free.run();
    }
  }
}
