package org.sparkcollectives.spark.internal.driver;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

/**
 * A limit on the bytes in memory at once, granted in the order of the requests.
 *
 * <p>Thread-safe; nothing blocks. A future that is cancelled before it completes takes nothing.
 */
final class ByteBudget {

  private final long total;
  private final Queue<Share> waiting = new ArrayDeque<>();
  private long free;

  /** A request that waits for a number of bytes. */
  private static final class Share extends CompletableFuture<Void> {
    private final long bytes;

    Share(long bytes) {
      this.bytes = bytes;
    }
  }

  ByteBudget(long total) {
    this.total = total;
    this.free = total;
  }

  /**
   * Acquires {@code bytes} as soon as they are free.
   *
   * @throws IllegalArgumentException if that is more than the whole budget
   */
  CompletableFuture<Void> acquire(long bytes) {
    if (bytes > total) {
      throw new IllegalArgumentException(bytes + " bytes of " + total);
    }
    Share share = new Share(bytes);
    synchronized (this) {
      waiting.add(share);
    }
    // A request that is cancelled lets those behind it pass.
    share.whenComplete(
        (granted, cancelled) -> {
          if (cancelled != null) {
            grant();
          }
        });
    grant();
    return share;
  }

  /** Returns bytes to the budget. */
  void release(long bytes) {
    synchronized (this) {
      free += bytes;
    }
    grant();
  }

  private void grant() {
    List<Share> granted = new ArrayList<>();
    synchronized (this) {
      while (!waiting.isEmpty() && (waiting.peek().isDone() || waiting.peek().bytes <= free)) {
        Share next = waiting.remove();
        if (!next.isDone()) {
          free -= next.bytes;
          granted.add(next);
        }
      }
    }
    for (Share share : granted) {
      if (!share.complete(null)) {
        // The request was cancelled at this very moment.
        release(share.bytes);
      }
    }
  }

  /** Returns how many bytes are taken. */
  synchronized long taken() {
    return total - free;
  }
}
