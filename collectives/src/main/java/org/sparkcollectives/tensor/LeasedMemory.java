package org.sparkcollectives.tensor;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Memory that is freed once it is closed and nobody uses it any more: whoever reads or writes it
 * acquires it before and releases it after. Thread-safe; nothing blocks.
 */
public final class LeasedMemory implements AutoCloseable {

  /** The bit that says closed; the others count who uses the memory. */
  private static final int CLOSED = Integer.MIN_VALUE;

  private final AtomicInteger state = new AtomicInteger();
  private final AtomicBoolean freed = new AtomicBoolean();
  private final Runnable free;

  /** Of memory that {@code free} frees, which is called once, on the thread that is the last. */
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

  /** Ends what {@link #acquire} began. */
  public void release() {
    if (state.decrementAndGet() == CLOSED) {
      freeOnce();
    }
  }

  /** Frees the memory, at once or when the last who uses it has released it. */
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
