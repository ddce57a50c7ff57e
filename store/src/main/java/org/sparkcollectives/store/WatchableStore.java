package org.sparkcollectives.store;

import java.util.concurrent.CompletableFuture;

/** A store that reports when a key appears, without a thread that waits for it. */
public interface WatchableStore extends Store {

  /**
   * Returns a future that completes with the value of {@code key} as soon as the key exists.
   *
   * <p>Does not block, and has no timeout. The future fails with {@link StoreConnectionException}
   * when the other side is lost, and with {@link IllegalStateException} when this handle is closed.
   * Cancelling it withdraws the watch. It completes on a thread of the store: dependents must not
   * block.
   */
  CompletableFuture<byte[]> watch(String key);
}
