package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.membership.Membership;

/**
 * What becomes of a path that broke, where it is not known to whom it led: a library that carries
 * messages by itself may say no more than that a peer is gone. The rank that failed gets a moment
 * to tell why; if none does, the ranks are asked for a sign of life, and one that gives none is
 * named.
 */
final class BrokenPath {

  /** How long the first cause may take to arrive: it ends the wait when it does. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private final Membership members;
  private final GroupFailure failure;
  private final Supplier<ProgressAnswers> ask;
  private final BiConsumer<Failure, Function<String, CollectiveException>> group;
  private final Executor background;
  private final AtomicReference<CompletableFuture<Void>> settling = new AtomicReference<>();

  /**
   * In a group.
   *
   * @param ask asks the ranks; blocks for a second or two
   * @param group fails with a record, and with what the operations of this rank then throw
   */
  BrokenPath(
      Membership members,
      GroupFailure failure,
      Supplier<ProgressAnswers> ask,
      BiConsumer<Failure, Function<String, CollectiveException>> group,
      Executor background) {
    this.members = members;
    this.failure = failure;
    this.ask = ask;
    this.group = group;
    this.background = background;
  }

  /**
   * Fails the group because of what was thrown, unless it fails meanwhile. Does not block.
   *
   * @param own the record of it that names this rank
   * @param local what the operations of this rank then throw
   */
  void report(Failure own, Function<String, CollectiveException> local) {
    CompletableFuture<Void> settled = new CompletableFuture<>();
    if (!settling.compareAndSet(null, settled)) {
      return;
    }
    try {
      background.execute(
          () -> {
            try {
              settle(own, local);
            } finally {
              settled.complete(null);
            }
          });
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      group.accept(own, local);
      settled.complete(null);
    }
  }

  private void settle(Failure own, Function<String, CollectiveException> local) {
    CountDownLatch failed = new CountDownLatch(1);
    failure.onFailure(failed::countDown);
    long begin = System.nanoTime();
    // A rank that has ended in good order may be behind it, too, and does not answer any more.
    List<Integer> silent = ask.get().silent();
    try {
      long left = PATIENCE.toNanos() - (System.nanoTime() - begin);
      if (failed.await(left, TimeUnit.NANOSECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (silent.isEmpty()) {
      group.accept(own, local);
      return;
    }
    group.accept(
        members
            .identityOf(silent.get(0))
            .failure(
                Failure.Kind.CONNECTION_RESET,
                own.operation(),
                own.sequenceNumber(),
                own.cause().lines().findFirst().orElse("")
                    + "; no sign of life from rank"
                    + (silent.size() == 1 ? " " : "s ")
                    + String.join(", ", silent.stream().map(String::valueOf).toList())),
        null);
  }

  /** Waits until what was reported, if anything was, is settled. */
  void await(Duration atMost) {
    CompletableFuture<Void> settled = settling.get();
    if (settled == null) {
      return;
    }
    try {
      settled.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (TimeoutException e) {
      // The group then fails a little later.
      return;
    } catch (ExecutionException e) {
      throw new AssertionError(e);
    }
  }
}
