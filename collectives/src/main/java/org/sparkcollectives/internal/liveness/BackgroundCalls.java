package org.sparkcollectives.internal.liveness;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.sparkcollectives.spi.LogContext;
import org.sparkcollectives.spi.failure.RankIdentity;
import org.sparkcollectives.store.StoreException;

/**
 * Runs calls that may block, such as those of the store, on an executor, and knows which are not
 * done yet. Once the executor is shut down, later calls are dropped, because no group needs them
 * any more. Thread-safe.
 */
public final class BackgroundCalls {

  private final Set<CompletableFuture<Void>> underWay = ConcurrentHashMap.newKeySet();
  private final Executor executor;
  private final Logger log;
  private final Object rank;
  private final Consumer<Runnable> context;

  /**
   * Creates calls whose errors are logged.
   *
   * @param rank what the log calls the rank
   */
  public BackgroundCalls(Executor executor, Logger log, Object rank) {
    this(executor, log, rank, Runnable::run);
  }

  private BackgroundCalls(Executor executor, Logger log, Object rank, Consumer<Runnable> context) {
    this.context = context;
    this.executor = executor;
    this.log = log;
    this.rank = rank;
  }

  /** Creates calls of a rank in a group, during which log lines have the keys of both. */
  public static BackgroundCalls of(Executor executor, Logger log, RankIdentity rank) {
    return new BackgroundCalls(executor, log, rank.where(), LogContext.of(rank)::run);
  }

  /**
   * Begins a call. Does not block, and throws nothing of what the call throws.
   *
   * @return false if no thread was available for it
   */
  @SuppressWarnings("CollectionUndefinedEquality") // The comparison is of the future itself.
  public boolean run(Runnable call) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    underWay.add(done);
    done.whenComplete((nothing, cause) -> underWay.remove(done));
    try {
      executor.execute(
          () -> {
            try {
              context.accept(() -> runAndLog(call));
            } finally {
              done.complete(null);
            }
          });
      return true;
    } catch (RejectedExecutionException e) {
      log.debug("{} does nothing in the background any more", rank);
    } catch (OutOfMemoryError e) {
      log.warn("{} found no thread for what it had to do in the background", rank, e);
    }
    done.complete(null);
    return false;
  }

  private void runAndLog(Runnable call) {
    try {
      call.run();
    } catch (StoreException | IllegalStateException e) {
      log.debug("{} could not reach its store: {}", rank, e.toString());
    } catch (RuntimeException | Error e) {
      log.warn("{} could not do what it had to do in the background", rank, e);
    }
  }

  /**
   * Waits until all calls that were begun are done, {@code atMost} is over, or the thread is
   * interrupted, which stays pending.
   *
   * @return whether they are done
   */
  public boolean await(Duration atMost) {
    CompletableFuture<Void> all =
        CompletableFuture.allOf(underWay.toArray(CompletableFuture<?>[]::new));
    try {
      all.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw new AssertionError("Calls end without an exception", e);
    } catch (TimeoutException e) {
      // The caller asked to wait no longer.
    }
    return false;
  }
}
