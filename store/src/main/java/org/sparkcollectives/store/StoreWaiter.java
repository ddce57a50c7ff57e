package org.sparkcollectives.store;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A blocking operation that is parked in a {@link StoreTable}, as a future.
 *
 * <p>Exactly one of these happens: the table grants it, the table fails it, {@link #expire} ends it
 * with a {@link StoreTimeoutException}, or {@link #cancel} (or any other completion from outside)
 * withdraws it. The decision is made under the table's lock, so a value taken from a queue can
 * never be granted to a waiter that is gone. The future completes after the lock is released.
 *
 * @param <T> what is granted
 */
public abstract class StoreWaiter<T> extends CompletableFuture<T> {

  private final Object lock;
  private boolean decided;

  StoreWaiter(Object lock) {
    this.lock = lock;
  }

  /** Takes this waiter out of the table. The caller holds the lock. */
  abstract void unpark();

  /**
   * Creates the exception for a wait that is over. The caller holds the lock, and the waiter is
   * still parked.
   */
  abstract StoreTimeoutException timeoutAfter(Duration waited);

  /** Returns whether it waits for a key that starts with {@code keyPrefix}. */
  abstract boolean waitsUnder(String keyPrefix);

  /** Returns what it waits for, for messages. */
  abstract String what();

  /**
   * Withdraws this waiter because {@code waited} has passed. The future then fails with a {@link
   * StoreTimeoutException} that names what is missing. If the waiter was decided before, nothing
   * changes.
   */
  public final void expire(Duration waited) {
    StoreTimeoutException timeout;
    synchronized (lock) {
      if (decided) {
        return;
      }
      timeout = timeoutAfter(waited);
      decided = true;
      unpark();
    }
    super.completeExceptionally(timeout);
  }

  /**
   * Records that the table has decided. The caller holds the lock; {@link #grant} or {@link #fail}
   * must follow.
   */
  final void decide() {
    assert Thread.holdsLock(lock) && !decided;
    decided = true;
  }

  /** Completes the future after {@link #decide}. The caller does not hold the lock. */
  final void grant(T value) {
    super.complete(value);
  }

  /** Fails the future after {@link #decide}. The caller does not hold the lock. */
  final void fail(RuntimeException failure) {
    super.completeExceptionally(failure);
  }

  private boolean withdraw() {
    synchronized (lock) {
      if (decided) {
        return false;
      }
      decided = true;
      unpark();
      return true;
    }
  }

  @Override
  public final boolean cancel(boolean mayInterruptIfRunning) {
    return withdraw() && super.cancel(mayInterruptIfRunning);
  }

  @Override
  public final boolean complete(T value) {
    return withdraw() && super.complete(value);
  }

  @Override
  public final boolean completeExceptionally(Throwable failure) {
    return withdraw() && super.completeExceptionally(failure);
  }
}
