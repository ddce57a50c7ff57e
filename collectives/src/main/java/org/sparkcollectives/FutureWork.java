package org.sparkcollectives;

import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A work that ends when a given future does. */
final class FutureWork implements Work {

  /** The longest time that a number of nanoseconds can hold. */
  private static final Duration LONGEST_WAIT = Duration.ofNanos(Long.MAX_VALUE);

  private final OpType opType;
  private final long sequenceNumber;
  private final CompletableFuture<List<Tensor>> future;
  private final long startNanos = System.nanoTime();
  private volatile long endNanos;

  FutureWork(OpType opType, long sequenceNumber, CompletableFuture<List<Tensor>> future) {
    this.opType = opType;
    this.sequenceNumber = sequenceNumber;
    this.future = future.whenComplete((tensors, cause) -> endNanos = System.nanoTime());
  }

  @Override
  public void await() {
    await(LONGEST_WAIT);
  }

  @Override
  public boolean await(Duration timeout) {
    try {
      Duration atMost = timeout.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : timeout;
      future.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CollectiveException("Interrupted while waiting for " + this, e);
    } catch (ExecutionException | CancellationException e) {
      Throwable cause = exception();
      throw cause instanceof CollectiveException collective
          ? collective
          : new CollectiveException(this + " failed: " + cause, cause);
    }
  }

  @Override
  public boolean isCompleted() {
    return future.isDone();
  }

  @Override
  public boolean isSuccess() {
    return future.isDone() && !future.isCompletedExceptionally();
  }

  @Override
  public Throwable exception() {
    if (!future.isCompletedExceptionally()) {
      return null;
    }
    Throwable cause = future.handle((tensors, thrown) -> thrown).join();
    return cause instanceof CompletionException && cause.getCause() != null
        ? cause.getCause()
        : cause;
  }

  @Override
  public CompletableFuture<List<Tensor>> future() {
    return future.copy();
  }

  @Override
  public CompletableFuture<WorkResult> result() {
    return future.handle(
        (tensors, thrown) -> thrown == null ? WorkResult.SUCCESS : WorkResult.of(exception()));
  }

  @Override
  public OpType opType() {
    return opType;
  }

  @Override
  public long sequenceNumber() {
    return sequenceNumber;
  }

  @Override
  public int sourceRank() {
    throw new IllegalStateException("It is not known where the data of " + this + " came from");
  }

  @Override
  public OptionalDouble durationMillis() {
    return future.isDone()
        ? OptionalDouble.of((endNanos - startNanos) / 1e6)
        : OptionalDouble.empty();
  }

  @Override
  public String toString() {
    return opType.label() + " #" + sequenceNumber;
  }
}
