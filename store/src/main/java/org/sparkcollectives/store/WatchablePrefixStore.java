package org.sparkcollectives.store;

import java.util.concurrent.CompletableFuture;

/** A {@link PrefixStore} over a store that can watch keys, and so can watch its own. */
final class WatchablePrefixStore extends PrefixStore implements WatchableStore {

  private final WatchableStore store;

  WatchablePrefixStore(String prefix, WatchableStore store) {
    super(prefix, store);
    this.store = store;
  }

  @Override
  public CompletableFuture<byte[]> watch(String key) {
    return store.watch(underlyingKey(key));
  }
}
