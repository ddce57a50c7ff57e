package org.sparkcollectives;

import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;

/**
 * An operation that was begun. It proceeds, and ends, whether or not somebody holds or awaits it.
 *
 * <p>May be used by any number of threads.
 */
public interface Work {

  /**
   * Returns a work that ends as {@code future} does: for backends, and for a user's own operations
   * among those of a group. It has no deadline of its own, and an interrupt ends the wait only,
   * with {@link CollectiveException}.
   */
  static Work of(OpType opType, long sequenceNumber, CompletableFuture<List<Tensor>> future) {
    return new FutureWork(opType, sequenceNumber, future);
  }

  /**
   * Blocks until the operation is done; the operation's own deadline bounds the wait.
   *
   * <p>An interrupt of the waiting thread aborts the group, because its other ranks cannot be left
   * with half an operation; the interrupt flag stays set.
   *
   * @throws CollectiveException if the operation failed
   */
  void await();

  /**
   * Blocks until the operation is done, but for {@code timeout} at the most. An interrupt does what
   * it does in {@link #await()}. The end of the wait has no effect on the operation, unlike in
   * c10d, where some backends then abort.
   *
   * @return false if it is not done yet; it goes on, and may be awaited again
   * @throws CollectiveException if the operation failed
   */
  boolean await(Duration timeout);

  /** Returns whether the operation is done, successfully or not. */
  boolean isCompleted();

  /** Returns whether the operation has succeeded. */
  boolean isSuccess();

  /** Returns why the operation failed; null if it did not, or is not done. */
  Throwable exception();

  /**
   * Returns the tensors that the operation wrote, or its failure. Dependents run on the thread that
   * ends the operation: they must not block.
   */
  CompletableFuture<List<Tensor>> future();

  /** Returns how the operation ended; never fails itself. */
  CompletableFuture<WorkResult> result();

  /** Returns what the operation is. */
  OpType opType();

  /**
   * Returns the operation's number in its group; collectives and messages count separately, from 0.
   */
  long sequenceNumber();

  /**
   * Returns the rank that a received message came from.
   *
   * @throws IllegalStateException if this is not a receive, or not done
   */
  int sourceRank();

  /**
   * Returns the sum that {@link ProcessGroup#allReduce(SparseTensor)} made: each index once, in
   * ascending order.
   *
   * @throws IllegalStateException if this is another operation, or has not succeeded
   */
  default SparseTensor sparseResult() {
    throw new IllegalStateException("Only an all-reduce of sparse tensors has a sparse result");
  }

  /**
   * Makes work that is enqueued on a device's stream from now on wait for the operation, without
   * blocking the calling thread: c10d's {@code Work.synchronize}. If the operation runs on the
   * host, or on another device, the thread itself waits, as with {@link #await()}.
   *
   * @throws CollectiveException if the operation is known to have failed
   */
  default void synchronize(DeviceStream stream) {
    await();
  }

  /** Returns the time in milliseconds from start to end; empty until the operation is done. */
  OptionalDouble durationMillis();
}
