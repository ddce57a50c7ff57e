package org.sparkcollectives.internal.work;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.sparkcollectives.internal.failure.FailureReports;
import org.sparkcollectives.internal.failure.MonitoredOperation;
import org.sparkcollectives.internal.failure.TimeoutHandling;
import org.sparkcollectives.internal.liveness.LeaveTracker;
import org.sparkcollectives.internal.liveness.ThreadStack;

/** The operations of a rank in a group that have begun and not ended. Thread-safe. */
final class PendingOperations {

  private final Set<MonitoredOperation> works = ConcurrentHashMap.newKeySet();

  /** The thread that has begun the last of them. */
  private volatile Thread caller = Thread.currentThread();

  /**
   * How many operations are pending.
   *
   * @param longestNanos for how long the oldest of them has been
   */
  record Count(int operations, long longestNanos) {}

  void add(MonitoredOperation work) {
    Thread current = Thread.currentThread();
    // It is almost always the same thread, and a read is cheaper than a write.
    if (caller != current) {
      caller = current;
    }
    works.add(work);
  }

  /** Returns where the thread is that has begun the last operation. */
  ThreadStack callerStack() {
    return ThreadStack.of(caller);
  }

  void remove(MonitoredOperation work) {
    works.remove(work);
  }

  /** Returns whether an operation is pending. */
  boolean any() {
    // The set's size is only an estimate while others add and remove.
    return works.iterator().hasNext();
  }

  boolean anyIsOlder(long nanos, long now) {
    return works.stream().anyMatch(work -> work.ageNanos(now) > nanos);
  }

  Count count(long now) {
    int count = 0;
    long longest = 0;
    for (MonitoredOperation work : works) {
      // A work completes a moment before it is removed.
      if (!work.isCompleted()) {
        count++;
        longest = Math.max(longest, work.ageNanos(now));
      }
    }
    return new Count(count, longest);
  }

  /** Reports the first operation that is overdue, or waits for a rank that has left. */
  void poll(long now, TimeoutHandling timeouts, LeaveTracker leaves, FailureReports reports) {
    for (MonitoredOperation work : works) {
      if (work.isOverdue(now)) {
        timeouts.handle(work);
        return;
      }
      int departed = work.departedPeer(leaves);
      if (departed >= 0) {
        reports.peerFinished(work, departed);
        return;
      }
    }
  }

  /** Ends what no thread runs, because the group has failed. Does not block. */
  void fail() {
    RunAll.of(works.stream().<Runnable>map(work -> work::groupFailed).toList());
  }
}
