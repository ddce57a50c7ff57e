package org.sparkcollectives.internal.engine;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.internal.liveness.LeaveTracker;
import org.sparkcollectives.internal.work.PendingWork;
import org.sparkcollectives.internal.work.TimeLimit;
import org.sparkcollectives.spi.OperationSpec;

/** A collective in its group's queue. */
abstract class CollectiveTask extends PendingWork implements QueuedTask {

  private final OperationQueue queue;

  /** True once the thread that runs the task, or the failure of the group, has taken it. */
  private final AtomicBoolean taken = new AtomicBoolean();

  CollectiveTask(
      OperationQueue queue,
      OperationSpec spec,
      TimeLimit limit,
      List<? extends Tensor> inputs,
      List<Tensor> outputs) {
    super(queue.monitor(), spec, limit, inputs, outputs);
    this.queue = queue;
  }

  /** Carries out the collective, blocking until it is done or has failed. */
  protected abstract void execute();

  @Override
  protected final void help(long nanos) {
    // A collective cannot be left in the middle: a thread with a limit leaves it to others.
    if (nanos == Long.MAX_VALUE) {
      queue.runUntil(this);
    }
  }

  @Override
  public final void groupFailed() {
    if (taken.compareAndSet(false, true)) {
      complete(monitor().state().exceptionFor(describe()));
    }
  }

  @Override
  public final int departedPeer(LeaveTracker leaves) {
    // A task in the queue waits for the operation before it, which may yet succeed.
    return taken.get() ? leaves.leftBefore(sequenceNumber()) : -1;
  }

  @Override
  protected final String missingRanks() {
    return "which ranks have not arrived is not known";
  }

  @Override
  public final void partFailed(Throwable cause) {
    monitor().reports().partFailed(this, cause);
  }

  @Override
  public final boolean hasRun() {
    return isCompleted();
  }

  /** Runs the collective. Every outcome ends in {@link #complete}. */
  @Override
  public final void run() {
    if (monitor().state().failed()) {
      groupFailed();
      return;
    }
    if (!taken.compareAndSet(false, true)) {
      return;
    }
    started();
    Throwable cause = null;
    try {
      execute();
    } catch (RuntimeException | Error e) {
      cause = monitor().reports().operationFailed(this, e);
    }
    complete(cause);
  }
}
