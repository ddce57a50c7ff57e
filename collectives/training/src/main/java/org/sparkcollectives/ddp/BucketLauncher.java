package org.sparkcollectives.ddp;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.store.Deadline;

/**
 * Begins the reductions of a step's buckets, each when it and all before it are ready, so that
 * their order is the same on every rank. The last bucket also waits for the end of the step,
 * because it says whether the step has failed, which is known only when all marks have come.
 */
final class BucketLauncher {

  private final ProcessGroup group;
  private final BucketReduction reduction;
  private final StepClock clock;
  private final Object lock = new Object();
  private List<ReducerBucket> buckets = List.of();
  private ReducerStep step;
  private int next;
  private boolean ending;

  BucketLauncher(ProcessGroup group, BucketReduction reduction, StepClock clock) {
    this.group = group;
    this.reduction = reduction;
    this.clock = clock;
  }

  void beginStep(List<ReducerBucket> ofStep, ReducerStep begun) {
    synchronized (lock) {
      buckets = ofStep;
      step = begun;
      next = 0;
      ending = false;
    }
  }

  /** Begins what is ready. Does not wait for other ranks. */
  void advance() {
    synchronized (lock) {
      while (next < buckets.size() && mayBegin(buckets.get(next))) {
        ReducerBucket bucket = buckets.get(next);
        if (next == 0) {
          clock.communicationBegins();
        }
        if (bucket.isLast() && !bucket.isSparse()) {
          bucket.setFlag(step.fault() != null);
        }
        bucket.reduceBy(reduction.begin(bucket, step.mean()));
        next++;
        if (next == buckets.size()) {
          lock.notifyAll();
        }
      }
    }
  }

  private boolean mayBegin(ReducerBucket bucket) {
    return bucket.isReady() && (ending || (!bucket.isLast() && step.mean().mayBegin()));
  }

  /**
   * Begins all reductions that are left. Waits for the rows of other ranks where the mean is over
   * rows, and for threads that are about to mark a gradient, until the group fails or the deadline
   * is over.
   */
  void endStep(Deadline deadline) {
    synchronized (lock) {
      ending = true;
      advance();
      while (next < buckets.size()) {
        requireGroup();
        requireTime(deadline);
        waitFor(Deadline.smaller(GroupEnd.LOOK_AFTER, deadline.left()));
        // A mark that has failed leaves its bucket to this thread.
        advance();
      }
    }
  }

  private void requireGroup() {
    CollectiveException ended =
        GroupEnd.of(group, "The wait for the marks of " + buckets.get(next));
    if (ended != null) {
      throw ended;
    }
  }

  private void requireTime(Deadline deadline) {
    if (deadline.isOver()) {
      throw new CollectiveException(
          "The gradients of " + buckets.get(next) + " did not arrive within " + deadline.total());
    }
  }

  private void waitFor(Duration left) {
    try {
      TimeUnit.NANOSECONDS.timedWait(lock, left.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CollectiveException("Interrupted while waiting for marks of gradients", e);
    }
  }
}
