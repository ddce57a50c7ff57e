package org.sparkcollectives.store;

import java.util.Optional;

/** A store that keeps so many bytes of values and no more, and can say how many more it takes. */
public interface BoundedStore extends Store {

  /**
   * Returns how many more bytes of values it takes now. Blocks for a round trip, for {@link
   * #timeout()} at the most.
   *
   * @throws StoreException if the other side does not say
   */
  long freeBytes();

  /** Returns the name of the setting that bounds it, for messages. */
  String limit();

  /** Returns what bounds {@code store}: itself, or the store that it is a view of. */
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
