package org.sparkcollectives.gpu.nccl;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.sparkcollectives.store.Backoff;

/**
 * The operations in the stream of a communicator, in the order of the stream, which is the order in
 * which they end.
 */
final class LaunchedOperations {

  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private final Queue<NcclOperation> all = new ConcurrentLinkedQueue<>();

  /** Adds an operation. The caller holds the lock of the communicator. */
  void add(NcclOperation operation) {
    all.add(operation);
  }

  /** Removes operations that are over, from the first on, until one is not. For one thread. */
  void removeWhile(Predicate<NcclOperation> isOver) {
    for (NcclOperation first = all.peek(); first != null; first = all.peek()) {
      if (!isOver.test(first)) {
        return;
      }
      all.remove();
    }
  }

  /**
   * Removes all operations: nobody else removes failed ones, and those that ended after the last
   * check.
   */
  void clear() {
    all.clear();
  }

  /** Returns whether all operations have ended, successfully or not. */
  boolean areOver() {
    return all.stream().allMatch(each -> each.begun().work().isCompleted());
  }

  /**
   * Waits until all operations have ended.
   *
   * @param communicator its name, for errors
   */
  void await(Deadline deadline, String communicator) {
    Backoff backoff = Backoff.every(PAUSE_NANOS);
    while (!areOver()) {
      deadline.check("the end of the operations in progress in " + communicator);
      backoff.pause();
    }
  }
}
