package org.sparkcollectives.store;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.sparkcollectives.config.TimeString;

/**
 * The opening or closing of a handle, which the file's thread writes into the file. Either that
 * thread writes it, or the caller who waits for it gives it up; never both.
 */
final class HandleNote {

  /** The time that writing a few bytes may take, once it has begun. */
  private static final Duration WRITE_TIMEOUT = Duration.ofSeconds(5);

  private final Path path;
  private final CompletableFuture<Boolean> written = new CompletableFuture<>();
  private final AtomicBoolean decided = new AtomicBoolean();

  HandleNote(Path path) {
    this.path = path;
  }

  /**
   * Claims the note for the file's thread, and returns whether it is to be written. The caller can
   * then no longer give it up.
   */
  boolean claim() {
    return decided.compareAndSet(false, true);
  }

  void complete(boolean answer) {
    written.complete(answer);
  }

  void fail(Throwable failure) {
    written.completeExceptionally(failure);
  }

  /**
   * Waits until the note is written. Gives it up at the deadline or when interrupted; if the
   * writing has begun by then, waits some seconds more.
   */
  boolean await(Deadline deadline) {
    try {
      return get(deadline.left());
    } catch (TimeoutException e) {
      return giveUp(
          new StoreException(
              "FileStore "
                  + path
                  + " is locked by another process, for longer than "
                  + TimeString.format(deadline.total()),
              e));
    } catch (InterruptedException e) {
      try {
        return giveUp(
            new StoreException("Interrupted while waiting for the lock of FileStore " + path, e));
      } finally {
        Thread.currentThread().interrupt();
      }
    }
  }

  private boolean giveUp(StoreException reason) {
    if (decided.compareAndSet(false, true)) {
      throw reason;
    }
    try {
      return get(WRITE_TIMEOUT);
    } catch (TimeoutException | InterruptedException e) {
      reason.addSuppressed(e);
      throw reason;
    }
  }

  private boolean get(Duration timeout) throws TimeoutException, InterruptedException {
    try {
      return written.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw StoreCall.here(e.getCause());
    }
  }
}
