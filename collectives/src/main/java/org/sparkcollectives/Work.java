package org.sparkcollectives;

import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;

/**
 * One operation under way. It proceeds, and ends, whether or not somebody holds or awaits it.
 *
 * <p>May be used by any number of threads.
 */
public interface Work {

  /**
   * A work that ends as {@code future} does: for backends, and for one's own operations among those
   * of a group. It has no deadline of its own, and an interrupt ends the wait only, with {@link
   * CollectiveException}.
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
   * it does in {@link #await()}. Unlike in c10d, where this makes some backends abort, the end of
   * the wait has no effect on the operation, whatever it is.
   *
   * @return false if it is not done yet; it goes on, and may be awaited again
   * @throws CollectiveException if the operation failed
   */
  boolean await(Duration timeout);

  /** True once the operation is done, well or not. */
  boolean isCompleted();

  /** True once the operation is done well. */
  boolean isSuccess();

  /** Why the operation failed; null if it did not, or is not done. */
  Throwable exception();

  /**
   * The tensors that the operation wrote, or its failure. Dependents run on the thread that ends
   * the operation: they must not block.
   */
  CompletableFuture<List<Tensor>> future();

  /** How the operation ended; never fails itself. */
  CompletableFuture<WorkResult> result();

  /** What the operation is. */
  OpType opType();

  /** The operation's number in its group; collectives and messages count separately, from 0. */
  long sequenceNumber();

  /**
   * The rank that a received message came from.
   *
   * @throws IllegalStateException if this is not a receive, or not done
   */
  int sourceRank();

  /**
   * The sum that {@link ProcessGroup#allReduce(SparseTensor)} made: each place once, in ascending
   * order.
   *
   * @throws IllegalStateException if this is another operation, or not done well
   */
  default SparseTensor sparseResult() {
    throw new IllegalStateException("Only an all-reduce of sparse tensors has a sparse result");
  }

  /**
   * Makes what is put into a device's queue from now on wait for the operation, without blocking
   * the calling thread: c10d's {@code Work.synchronize}. Where the operation runs on the host, or
   * on another device, the thread has to wait itself, as with {@link #await()}.
   *
   * @throws CollectiveException if the operation is known to have failed
   */
  default void synchronize(DeviceStream stream) {
    await();
  }

  /** The time in milliseconds from start to end; empty until the operation is done. */
  OptionalDouble durationMillis();
}
