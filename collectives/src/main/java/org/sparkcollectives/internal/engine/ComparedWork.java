package org.sparkcollectives.internal.engine;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.sparkcollectives.internal.liveness.LeaveTracker;

/**
 * An operation that a backend carries out by itself after the ranks have compared their calls. They
 * compare them in host memory, in the operation's turn among the group's collectives.
 */
final class ComparedWork extends BackendWork implements QueuedTask {

  private enum State {
    /** The work waits for the collectives before it. */
    QUEUED,
    COMPARING,
    /** The ranks have made the same call, or the work has failed. */
    COMPARED
  }

  private final OperationQueue queue;
  private final CallComparison comparison;
  private final AtomicReference<State> state = new AtomicReference<>(State.QUEUED);
  private final CountDownLatch compared = new CountDownLatch(1);

  ComparedWork(OperationQueue queue, BackendCall call, CallComparison comparison) {
    super(queue, call);
    this.queue = queue;
    this.comparison = comparison;
  }

  /**
   * Waits until the ranks have compared their calls, until the work's deadline at the most; wakes
   * when the group ends. Then the work has failed, or the operation may begin.
   */
  void awaitComparison() {
    queue.runUntil(this);
    boolean interrupted = false;
    while (true) {
      try {
        compared.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
        monitor().reports().interrupted();
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void run() {
    if (monitor().state().failed()) {
      groupFailed();
      return;
    }
    if (!state.compareAndSet(State.QUEUED, State.COMPARING)) {
      return;
    }
    try {
      comparison.compareAlone(spec(), sequenceNumber());
    } catch (RuntimeException | Error e) {
      complete(monitor().reports().operationFailed(this, e));
    } finally {
      state.set(State.COMPARED);
      if (monitor().state().failed()) {
        // The group may have failed while the comparison was to notice it.
        groupFailed();
      }
      compared.countDown();
    }
  }

  @Override
  public boolean hasRun() {
    return compared.getCount() == 0;
  }

  /**
   * Ends the work, unless the comparison runs, which notices the failure itself and knows its cause
   * best.
   */
  @Override
  public void groupFailed() {
    if (state.compareAndSet(State.QUEUED, State.COMPARED)) {
      super.groupFailed();
      compared.countDown();
    } else if (state.get() == State.COMPARED) {
      super.groupFailed();
    }
  }

  /**
   * Returns -1 for a work that is still in the queue: it waits for the operation before it, which
   * may yet succeed.
   */
  @Override
  public int departedPeer(LeaveTracker leaves) {
    return state.get() == State.QUEUED ? -1 : super.departedPeer(leaves);
  }
}
