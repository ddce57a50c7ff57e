package org.sparkcollectives.store;

import java.util.Optional;

/** A store that holds a limited number of bytes of values, and can say how many more fit. */
public interface BoundedStore extends Store {

  /**
   * Returns how many more bytes of values fit now. Blocks for a round trip, for {@link #timeout()}
   * at the most.
   *
   * @throws StoreException if the other side does not answer
   */
  long freeBytes();

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
