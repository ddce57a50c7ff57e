package org.sparkcollectives.gpu.nccl;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/** What is in the stream of a lane, in the order of the stream, in which it ends. */
final class LaunchedOperations {

  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private final Queue<NcclOperation> all = new ConcurrentLinkedQueue<>();

  /** By who has the turn of the lane. */
  void add(NcclOperation operation) {
    all.add(operation);
  }

  /** Forgets what is over, from the first on, until one is not. For one thread. */
  void forgetFirst(Predicate<NcclOperation> isOver) {
    for (NcclOperation first = all.peek(); first != null; first = all.peek()) {
      if (!isOver.test(first)) {
        return;
      }
      all.remove();
    }
  }

  /** Forgets all: of what has failed, and of what ended after the last look, nobody else does. */
  void forgetAll() {
    all.clear();
  }

  /** Whether all have ended, well or not. */
  boolean areOver() {
    return all.stream().allMatch(each -> each.begun().work().isCompleted());
  }

  /**
   * Waits until all have ended.
   *
   * @param lane as errors have it
   */
  void await(Deadline deadline, String lane) {
    while (!areOver()) {
      deadline.check("the end of the operations under way in " + lane);
      LockSupport.parkNanos(this, PAUSE_NANOS);
    }
  }
}
