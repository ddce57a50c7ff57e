package org.sparkcollectives.store;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;

/**
 * A view of a store that ends before the store does. When it is revoked, the calls that wait in the
 * view fail at once, and so do all later ones. The store itself, and other views of it, are not
 * affected.
 *
 * <p>A store of a kind that this library does not know is used without such a view; a call that
 * waits there ends at its own deadline.
 */
public final class StoreLease {

  private final Store view;
  private final LeasedStore handle;

  private StoreLease(Store view, LeasedStore handle) {
    this.view = view;
    this.handle = handle;
  }

  /** Creates a view of {@code store}, which stays open when the view is closed. */
  public static StoreLease of(Store store) {
    return of(store, () -> false);
  }

  /**
   * Creates a view of {@code store}, which stays open when the view is closed.
   *
   * @param late whether a caller that begins a call now knows already what {@link #wake} reports;
   *     such a call is not ended
   */
  public static StoreLease of(Store store, BooleanSupplier late) {
    Objects.requireNonNull(store, "store");
    if (store instanceof AbstractStore known) {
      LeasedStore handle = new LeasedStore(known, late);
      return new StoreLease(handle, handle);
    }
    if (store instanceof PrefixStore prefixed) {
      StoreLease inner = of(prefixed.underlyingStore(), late);
      return new StoreLease(prefixed.over(inner.view), inner.handle);
    }
    return new StoreLease(store, null);
  }

  /** Returns the view. */
  public Store store() {
    return view;
  }

  /**
   * Ends the view. Calling it again does nothing. Does not block.
   *
   * @param cause the calls throw a copy of it, with their own stack
   */
  public void revoke(RuntimeException cause) {
    if (handle != null) {
      handle.revoke(cause);
    }
  }

  /**
   * Ends the view as {@link #revoke} does, and waits for the calls that are being started. If it
   * returns true, no call of the view reaches the store afterwards, unless the store is of a kind
   * that this library does not know. Blocks until the deadline at the most.
   *
   * @return false if the deadline passed or the thread was interrupted first
   */
  public boolean end(RuntimeException cause, Deadline deadline) {
    revoke(cause);
    return handle == null || handle.awaitStarted(deadline);
  }

  /**
   * Ends the calls of the view that wait for a key, a value or other callers. Later calls are not
   * affected. Does not block. Called at most once.
   *
   * @param cause the calls throw a copy of it, with their own stack
   */
  public void wake(RuntimeException cause) {
    if (handle != null) {
      handle.wake(cause);
    }
  }

  /** The calls of the view, on their way to the store. */
  private static final class LeasedStore extends StoreHandle {
    private final AbstractStore store;
    private final BooleanSupplier late;

    /** Held for reading while a call starts. */
    private final ReadWriteLock starts = new ReentrantReadWriteLock();

    LeasedStore(AbstractStore store, BooleanSupplier late) {
      super(store.timeout());
      this.store = store;
      this.late = late;
    }

    @Override
    boolean isLate() {
      return late.getAsBoolean();
    }

    @Override
    StoreCounters counters() {
      return store.counters();
    }

    @Override
    Store underlying() {
      return store;
    }

    @Override
    PendingReply start(StoreRequest request) {
      PendingReply inner;
      starts.readLock().lock();
      try {
        checkOpen();
        inner = store.submit(request);
      } finally {
        starts.readLock().unlock();
      }
      PendingReply outer =
          new PendingReply() {
            @Override
            void expire(Duration waited) {
              inner.expire(waited);
            }
          };
      inner.whenComplete(
          (reply, failure) -> {
            if (failure == null) {
              outer.complete(reply);
            } else {
              outer.completeExceptionally(failure);
            }
          });
      outer.whenComplete(
          (reply, failure) -> {
            // Nobody is left to take what the store may still grant.
            if (!inner.isDone()) {
              inner.expire(Duration.ZERO);
            }
          });
      return outer;
    }

    void revoke(RuntimeException cause) {
      end(cause);
    }

    /** Waits for the calls that were starting when the view ended; later ones do not start. */
    boolean awaitStarted(Deadline deadline) {
      try {
        // The first try takes a free lock for an interrupted thread, too.
        if (!starts.writeLock().tryLock()
            && !starts.writeLock().tryLock(deadline.left().toNanos(), TimeUnit.NANOSECONDS)) {
          return false;
        }
        starts.writeLock().unlock();
        return true;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }

    @Override
    String description() {
      return store.description();
    }

    @Override
    void release() {}
  }
}
