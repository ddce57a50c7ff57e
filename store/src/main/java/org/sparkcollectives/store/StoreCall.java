package org.sparkcollectives.store;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.sparkcollectives.config.TimeString;

/** The wait of one thread for the reply to its request. */
final class StoreCall {

  /** The {@link AbstractStore#grace} of a caller that was interrupted, and so is in a hurry. */
  private static final Duration INTERRUPTED_GRACE = Duration.ofMillis(50);

  private final StoreRequest request;
  private final String description;
  private final Supplier<Duration> grace;
  private final long start = System.nanoTime();

  /**
   * Creates a call of the current thread.
   *
   * @param grace see {@link AbstractStore#grace}; called when it is needed
   */
  StoreCall(StoreRequest request, String description, Supplier<Duration> grace) {
    this.grace = grace;
    this.request = request;
    this.description = description;
  }

  StoreReply await(PendingReply pending) {
    try {
      return get(pending, request.operation().waits() ? request.timeout() : answerTime());
    } catch (TimeoutException e) {
      return giveUp(pending);
    } catch (InterruptedException e) {
      return interrupted(pending, e);
    }
  }

  private Duration answerTime() {
    Duration least = grace.get();
    return request.timeout().compareTo(least) > 0 ? request.timeout() : least;
  }

  private StoreReply giveUp(PendingReply pending) {
    try {
      if (request.operation().waits()) {
        pending.expire(request.timeout());
        return get(pending, grace.get());
      }
    } catch (TimeoutException e) {
      // Continues below: the other side has not even answered that the time is over.
    } catch (InterruptedException e) {
      return interrupted(pending, e);
    }
    StoreConnectionException silent =
        new StoreConnectionException(
            description + " did not answer " + request.describe() + " within " + waited());
    pending.completeExceptionally(silent);
    throw silent;
  }

  /**
   * Gives up, but returns a value that was granted at this very moment, because a queue has no
   * other copy of it.
   */
  private StoreReply interrupted(PendingReply pending, InterruptedException interrupt) {
    StoreException failure =
        new StoreException(
            request.describe() + " at " + description + " was interrupted after " + waited(),
            interrupt);
    try {
      pending.expire(request.timeout());
      return pending.get(INTERRUPTED_GRACE.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException
        | TimeoutException
        | InterruptedException
        | CancellationException e) {
      failure.addSuppressed(e);
      pending.completeExceptionally(failure);
      throw failure;
    } finally {
      Thread.currentThread().interrupt();
    }
  }

  private String waited() {
    return TimeString.format(Duration.ofMillis((System.nanoTime() - start) / 1_000_000));
  }

  private static StoreReply get(PendingReply pending, Duration timeout)
      throws InterruptedException, TimeoutException {
    try {
      return pending.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw here(e.getCause());
    }
  }

  /** Returns the failure with the caller's stack trace; the original is its cause. */
  static RuntimeException here(Throwable failure) {
    String message = failure.getMessage();
    if (failure instanceof StoreTimeoutException timeout) {
      StoreTimeoutException copy =
          new StoreTimeoutException(message, timeout.missingKeys(), timeout.waited());
      copy.initCause(timeout);
      return copy;
    }
    if (failure instanceof QueueEmptyException) {
      QueueEmptyException copy = new QueueEmptyException(message);
      copy.initCause(failure);
      return copy;
    }
    if (failure instanceof StoreConnectionException) {
      return new StoreConnectionException(message, failure);
    }
    if (failure instanceof IllegalArgumentException) {
      return new IllegalArgumentException(message, failure);
    }
    if (failure instanceof IllegalStateException) {
      return new IllegalStateException(message, failure);
    }
    return new StoreException(message == null ? failure.toString() : message, failure);
  }
}
