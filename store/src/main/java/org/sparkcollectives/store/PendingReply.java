package org.sparkcollectives.store;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A request in progress: a future that its caller can give up. */
abstract class PendingReply extends CompletableFuture<StoreReply> {

  /**
   * Ends the wait because the caller's time is over. The future then fails with a {@link
   * StoreTimeoutException}, unless the request is granted at this very moment. Does not block.
   */
  abstract void expire(Duration waited);
}
