package org.sparkcollectives.internal.work;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.spi.LogContext;
import org.sparkcollectives.spi.failure.RankIdentity;

/**
 * Calls a group's hooks for each operation that is done, in the order in which they end, one call
 * at a time, on a thread that is not the operation's. Thread-safe.
 */
public final class CompletionHooks {

  private static final Logger LOG = LoggerFactory.getLogger(CompletionHooks.class);

  private final Executor executor;
  private final RankIdentity rank;
  private final List<Consumer<FlightRecord>> hooks = new CopyOnWriteArrayList<>();
  private final Queue<FlightRecord> untold = new ArrayDeque<>();
  private boolean telling;

  /**
   * Creates the hooks of a group, none at first.
   *
   * @param rank what the log calls the rank
   */
  CompletionHooks(Executor executor, RankIdentity rank) {
    this.executor = executor;
    this.rank = rank;
  }

  /** Adds a hook, which is called for each operation that ends from now on. */
  public void add(Consumer<FlightRecord> hook) {
    hooks.add(hook);
  }

  /**
   * Calls the hooks for an operation, in the background. Does not block; costs next to nothing
   * while there is no hook.
   */
  void tell(Supplier<FlightRecord> record) {
    if (hooks.isEmpty()) {
      return;
    }
    FlightRecord told = record.get();
    synchronized (this) {
      untold.add(told);
      if (telling) {
        return;
      }
      telling = true;
    }
    try {
      executor.execute(this::tellAll);
    } catch (RejectedExecutionException e) {
      // The node has closed, and its groups with it.
      stop();
    } catch (RuntimeException | Error e) {
      LOG.warn("{}: no thread for the completion hooks, which miss {}", rank, told.describe(), e);
      stop();
    }
  }

  private synchronized void stop() {
    untold.clear();
    telling = false;
    notifyAll();
  }

  private synchronized FlightRecord next() {
    FlightRecord next = untold.poll();
    if (next == null) {
      telling = false;
      notifyAll();
    }
    return next;
  }

  private void tell(FlightRecord record) {
    for (Consumer<FlightRecord> hook : hooks) {
      try {
        hook.accept(record);
      } catch (Throwable e) { // Also checked exceptions, which Scala does not declare.
        LOG.warn("{}: a completion hook failed at {}", rank, record.describe(), e);
      }
    }
  }

  private void tellAll() {
    for (FlightRecord record = next(); record != null; record = next()) {
      FlightRecord told = record;
      LogContext.of(rank).during(record.describe()).run(() -> tell(told));
    }
  }

  /**
   * Waits until all calls of the hooks are done, {@code atMost} is over, or the thread is
   * interrupted, which stays pending.
   */
  public synchronized void await(Duration atMost) {
    long end = System.nanoTime() + atMost.toNanos();
    while (telling) {
      long millis = (end - System.nanoTime()) / 1_000_000;
      if (millis <= 0) {
        LOG.warn("{} is closed while a completion hook still runs", rank);
        return;
      }
      try {
        wait(millis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
