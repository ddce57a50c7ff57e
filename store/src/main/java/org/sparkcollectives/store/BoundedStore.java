package org.sparkcollectives.store;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/** A store that holds a limited number of bytes of values, and can say how many more fit. */
public interface BoundedStore extends Store {

  /**
   * Returns how many more bytes of values fit now. Blocks for a round trip, for {@code atMost} at
   * the most.
   *
   * @throws StoreException if the other side does not answer
   */
  long freeBytes(Duration atMost);

  /**
   * Returns how many more bytes of values fit into {@code store} now, if it is bounded or a view of
   * a bounded store. Blocks for a round trip, for the {@link Store#timeout()} of {@code store} at
   * the most; a view with a {@link Deadline} keeps it.
   *
   * @throws StoreException if the other side does not answer
   */
  static OptionalLong freeBytes(Store store) {
    return of(store).stream().mapToLong(each -> each.freeBytes(store.timeout())).findFirst();
  }

  /** Returns the name of the setting that limits it, for messages. */
  String limit();

  /** Returns {@code store} if it is bounded, or the bounded store of which it is a view. */
  static Optional<BoundedStore> of(Store store) {
    Store each = store;
    while (each != null && !(each instanceof BoundedStore)) {
      each =
          each instanceof PrefixStore prefixed
              ? prefixed.underlyingStore()
              : each instanceof AbstractStore known ? known.underlying() : null;
    }
    return Optional.ofNullable((BoundedStore) each);
  }
}
