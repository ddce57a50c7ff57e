package org.sparkcollectives.spark;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

/**
 * Bytes that may be in memory at once, given to those who ask in the order in which they ask.
 *
 * <p>Thread-safe; nothing blocks. A future that is cancelled before it completes takes nothing.
 */
final class ByteBudget {

  private final long total;
  private final Queue<Share> waiting = new ArrayDeque<>();
  private long free;

  /** Somebody who waits for a number of bytes. */
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
   * Takes {@code bytes} as soon as they are free.
   *
   * @throws IllegalArgumentException if there are never so many
   */
  CompletableFuture<Void> acquire(long bytes) {
    if (bytes > total) {
      throw new IllegalArgumentException(bytes + " bytes of " + total);
    }
    Share share = new Share(bytes);
    synchronized (this) {
      waiting.add(share);
    }
    // One that gives up lets those behind it pass.
    share.whenComplete(
        (granted, cancelled) -> {
          if (cancelled != null) {
            grant();
          }
        });
    grant();
    return share;
  }

  /** Gives back what was taken. */
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
        // Cancelled in this very moment.
        release(share.bytes);
      }
    }
  }

  /** How many bytes are taken. */
  synchronized long taken() {
    return total - free;
  }
}
