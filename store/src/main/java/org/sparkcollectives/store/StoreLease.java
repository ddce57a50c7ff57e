package org.sparkcollectives.store;

import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * A view of a store that ends before the store does: when it is revoked, the calls that wait in the
 * view fail at once, and so do all later ones. The store itself, and other views of it, go on.
 *
 * <p>A store of a kind that this library does not know is used as it is; there a call that waits
 * ends at its own deadline.
 */
public final class StoreLease {

  private final Store view;
  private final LeasedStore handle;

  private StoreLease(Store view, LeasedStore handle) {
    this.view = view;
    this.handle = handle;
  }

  /** A view of {@code store}, which is not closed with it. */
  public static StoreLease of(Store store) {
    return of(store, () -> false);
  }

  /**
   * A view of {@code store}, which is not closed with it.
   *
   * @param late whether what {@link #wake} tells of is known already to who begins a call now,
   *     which then goes on
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

  /** The view. */
  public Store store() {
    return view;
  }

  /**
   * Ends the view; the second call does nothing. Does not block.
   *
   * @param cause what the calls throw a copy of, with their own stack
   */
  public void revoke(RuntimeException cause) {
    if (handle != null) {
      handle.revoke(cause);
    }
  }

  /**
   * Ends the calls of the view that wait for a key, a value or other callers; later ones are not
   * concerned. Does not block; for once.
   *
   * @param cause what the calls throw a copy of, with their own stack
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
    Store underlying() {
      return store;
    }

    @Override
    PendingReply start(StoreRequest request) {
      PendingReply inner = store.submit(request);
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
            // Nobody is left who would take what the store may still grant.
            if (!inner.isDone()) {
              inner.expire(Duration.ZERO);
            }
          });
      return outer;
    }

    void revoke(RuntimeException cause) {
      end(cause);
    }

    @Override
    String description() {
      return store.description();
    }

    @Override
    void release() {}
  }
}
