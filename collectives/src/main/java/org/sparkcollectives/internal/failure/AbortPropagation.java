package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.WatchableStore;

/**
 * Carries the failure of one rank to all: through one key of the group's store, which keeps the
 * record that tells most of the first cause.
 *
 * <p>One cause has many consequences: peers see a reset connection, and Spark kills their tasks. A
 * rank that knows only a consequence publishes it, and gives the cause {@link #SETTLE} to arrive
 * before it ends the group with the best record by then. A user's exception is the best there is,
 * and ends the group at once.
 *
 * <p>Nothing here blocks the caller; the store is used on the given executor only.
 */
public final class AbortPropagation implements AutoCloseable {

  /** How long a rank that was hit by a consequence waits for a better record. */
  static final Duration SETTLE = Duration.ofMillis(100);

  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(5);
  private static final long REREAD_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final Logger LOG = LoggerFactory.getLogger(AbortPropagation.class);

  private final PublishedFailure published;
  private final GroupFailure groupFailure;
  private final RankIdentity self;
  private final ErrorHandling mode;
  private final BackgroundCalls background;
  private final CompletableFuture<byte[]> watch;

  /** What this rank itself has noticed; null if nothing. */
  private volatile Noticed noticed;

  private record Noticed(Failure failure, Function<String, CollectiveException> local) {}

  /** Begins to listen for the failures of other ranks, where the store can be watched. */
  public AbortPropagation(
      Store store,
      GroupFailure groupFailure,
      RankIdentity self,
      ErrorHandling mode,
      Executor executor) {
    this.published = new PublishedFailure(store.withTimeout(STORE_TIMEOUT));
    this.groupFailure = groupFailure;
    this.self = self;
    this.mode = mode;
    this.background = new BackgroundCalls(executor, LOG, self.where());
    if (store instanceof WatchableStore watchable) {
      watch = watchable.watch(PublishedFailure.KEY);
      watch.whenComplete(
          (record, cause) -> {
            if (cause == null) {
              background.run(() -> settle(FailureCodec.decode(record)));
            } else if (!watch.isCancelled()) {
              LOG.warn(
                  "{} has lost the group's store ({}): from now on it learns of failures only from"
                      + " its connections to other ranks and from deadlines",
                  self.where(),
                  cause.toString());
            }
          });
    } else {
      watch = null;
    }
  }

  /**
   * Whether somebody has to call {@link #poll} now and then, because the store cannot be watched.
   */
  public boolean needsPolling() {
    return watch == null;
  }

  /** Looks for a failure of another rank, in the background. */
  public void poll() {
    background.run(
        () -> {
          Failure found = published.read();
          if (found != null) {
            settle(found);
          }
        });
  }

  /**
   * Publishes a failure that this rank noticed, and ends the group with the best record known.
   *
   * @param local what this rank's operations throw, made from an operation's description, if no
   *     better record turns up; null for what the record says
   */
  public void report(Failure failure, Function<String, CollectiveException> local) {
    noticed = new Noticed(failure, local);
    if (failure.kind() == Failure.Kind.EXCEPTION || mode == ErrorHandling.SKIP_CLEAN_UP) {
      end(failure);
    }
    boolean begun =
        background.run(
            () -> {
              Failure best = failure;
              try {
                best = published.offer(failure);
              } catch (RuntimeException e) {
                LOG.warn("{} could not publish its failure: {}", self.where(), e.toString());
              }
              settle(best);
            });
    if (!begun) {
      end(failure);
    }
  }

  /**
   * Ends the group on this rank alone with a failure that it noticed, or with a better record of
   * another's.
   *
   * @param local as in {@link #report}
   */
  public void keep(Failure failure, Function<String, CollectiveException> local) {
    noticed = new Noticed(failure, local);
    LOG.error(
        "The group of {} is over on this rank, and no other is told (error handling {}): {} {}: {}",
        self.where(),
        mode,
        failure.where(),
        failure.kind().verb(),
        failure.cause());
    if (!background.run(() -> settle(failure))) {
      end(failure);
    }
  }

  /**
   * Waits until what was reported is published, or {@code atMost} is over.
   *
   * @return whether it is published
   */
  public boolean awaitPublished(Duration atMost) {
    return background.await(atMost);
  }

  /** Stops listening. */
  @Override
  public void close() {
    if (watch != null) {
      watch.cancel(false);
    }
  }

  private void settle(Failure known) {
    Failure best = known;
    long start = System.nanoTime();
    boolean over = false;
    while (!over && !groupFailure.failed() && best.kind() != Failure.Kind.EXCEPTION) {
      LockSupport.parkNanos(REREAD_NANOS);
      // Before the last look, as a busy machine may let this thread wait for longer than that.
      over = System.nanoTime() - start >= SETTLE.toNanos();
      Failure found = readQuietly();
      if (found != null && found.outranks(best)) {
        best = found;
      }
    }
    end(best);
  }

  private Failure readQuietly() {
    try {
      return published.read();
    } catch (StoreException | IllegalStateException e) {
      // Gone, or closed by the user: this rank's own record is the best there is.
      return null;
    }
  }

  private void end(Failure failure) {
    // The record may come by way of the store, and before the one who reported it gets here; it may
    // also be another rank's, which tells no more than this rank knows.
    Noticed own = noticed;
    Function<String, CollectiveException> exceptionFor =
        own == null || failure.kind().compareTo(own.failure.kind()) < 0 ? null : own.local;
    if (exceptionFor == null) {
      exceptionFor = operation -> exceptionFor(operation, self, failure);
    }
    if (groupFailure.fail(failure, exceptionFor)) {
      LOG.debug("{} has failed: {} {}", self.where(), failure.where(), failure.kind().verb());
    }
  }

  /** Returns what an operation of {@code self} throws after a failure of that or another rank. */
  public static CollectiveException exceptionFor(
      String operation, RankIdentity self, Failure failure) {
    if (!failure.calls().isEmpty()) {
      return new CollectiveMismatchException(
          operation + " of " + self.where() + " failed: " + firstWords(failure), failure.calls());
    }
    return failure.rank() == self.rank()
        ? new GroupAbortedException(
            operation + " of " + self.where() + " failed: " + failure.cause(), null)
        : new PeerFailedException(describe(operation, self, failure), failure);
  }

  /** The sentence that a user reads first. */
  static String describe(String operation, RankIdentity self, Failure failure) {
    StringBuilder text = new StringBuilder();
    text.append(operation).append(" of ").append(self.where()).append(" failed, because ");
    text.append(failure.where()).append(' ').append(failure.kind().verb());
    if (!failure.operation().isEmpty()) {
      text.append(" in ").append(failure.operation());
    }
    return text.append(": ").append(beforeStack(failure)).toString();
  }

  private static String beforeStack(Failure failure) {
    int frames = failure.cause().indexOf("\n\tat ");
    return frames < 0 ? failure.cause() : failure.cause().substring(0, frames);
  }

  /** What the rank that found it says of a mismatch, without the exception's class. */
  private static String firstWords(Failure failure) {
    String thrown = beforeStack(failure);
    String type = CollectiveMismatchException.class.getName() + ": ";
    return thrown.startsWith(type) ? thrown.substring(type.length()) : thrown;
  }
}
