package org.sparkcollectives.ddp;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.store.Deadline;

/**
 * Begins the reductions of a step's buckets, each when it and all before it are ready, so that
 * their order is the same on every rank. The last bucket also waits for the end of the step,
 * because it says whether the step has failed.
 */
final class BucketLauncher {

  private final BucketReduction reduction;
  private final StepClock clock;
  private final Object lock = new Object();
  private List<ReducerBucket> buckets = List.of();
  private GradientMean mean;
  private int next;
  private boolean ending;

  BucketLauncher(BucketReduction reduction, StepClock clock) {
    this.reduction = reduction;
    this.clock = clock;
  }

  void beginStep(List<ReducerBucket> ofStep, GradientMean meanOfStep) {
    synchronized (lock) {
      buckets = ofStep;
      mean = meanOfStep;
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
        bucket.reduceBy(reduction.begin(bucket, mean));
        next++;
        if (next == buckets.size()) {
          lock.notifyAll();
        }
      }
    }
  }

  private boolean mayBegin(ReducerBucket bucket) {
    return bucket.isReady() && (ending || (!bucket.isLast() && mean.mayBegin()));
  }

  /**
   * Begins all reductions that are left. Waits for the rows of other ranks where the mean is over
   * rows, and for threads that are about to mark a gradient, until the deadline at the most.
   */
  void endStep(Deadline deadline) {
    synchronized (lock) {
      ending = true;
      advance();
      while (next < buckets.size()) {
        if (deadline.isOver()) {
          throw new CollectiveException(
              "The gradients of "
                  + buckets.get(next)
                  + " did not arrive within "
                  + deadline.total());
        }
        waitFor(deadline.left());
      }
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
