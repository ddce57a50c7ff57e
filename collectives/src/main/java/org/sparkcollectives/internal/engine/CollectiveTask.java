package org.sparkcollectives.internal.engine;

import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.sparkcollectives.OpType;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.internal.liveness.LeaveTracker;
import org.sparkcollectives.internal.work.PendingWork;
import org.sparkcollectives.internal.work.TimeLimit;
import org.sparkcollectives.spi.OperationSpec;

/** A collective in its group's queue. */
final class CollectiveTask extends PendingWork implements QueuedTask {

  /** The exchange of data that the task stands for. */
  interface Body {

    /** Carries out the collective, blocking until it is done or has failed. */
    void execute(CollectiveTask task);
  }

  private static final AtomicIntegerFieldUpdater<CollectiveTask> TAKEN =
      AtomicIntegerFieldUpdater.newUpdater(CollectiveTask.class, "taken");

  private final OperationQueue queue;
  private final Body body;

  /** 1 once the thread that runs the task, or the failure of the group, has taken it; else 0. */
  private volatile int taken;

  /** Written before the task completes, and read after. */
  private SparseTensor sparseSum;

  CollectiveTask(
      OperationQueue queue,
      OperationSpec spec,
      TimeLimit limit,
      List<? extends Tensor> inputs,
      List<Tensor> outputs,
      Body body) {
    super(queue.monitor(), spec, limit, inputs, outputs);
    this.queue = queue;
    this.body = body;
  }

  @Override
  protected void help(long nanos) {
    // A collective cannot be left in the middle: a thread with a limit leaves it to others.
    if (nanos == Long.MAX_VALUE) {
      queue.runUntil(this);
    }
  }

  private boolean take() {
    return TAKEN.compareAndSet(this, 0, 1);
  }

  @Override
  public void groupFailed() {
    if (take()) {
      complete(monitor().state().exceptionFor(describe()));
    }
  }

  @Override
  public int departedPeer(LeaveTracker leaves) {
    // A task in the queue waits for the operation before it, which may yet succeed.
    return taken == 1 ? leaves.leftBefore(sequenceNumber()) : -1;
  }

  @Override
  public boolean hasRun() {
    return isCompleted();
  }

  /** Runs the collective. Every outcome ends in {@link #complete}. */
  @Override
  public void run() {
    if (monitor().state().failed()) {
      groupFailed();
      return;
    }
    if (!take()) {
      return;
    }
    started();
    Throwable cause = null;
    try {
      body.execute(this);
    } catch (RuntimeException | Error e) {
      cause = monitor().reports().operationFailed(this, e);
    }
    complete(cause);
  }

  /** Keeps the result of an all-reduce of sparse tensors. */
  void reducedTo(SparseTensor sum) {
    sparseSum = sum;
  }

  @Override
  public SparseTensor sparseResult() {
    if (opType() != OpType.ALL_REDUCE_SPARSE) {
      return super.sparseResult();
    }
    if (!isSuccess()) {
      throw new IllegalStateException(
          describe() + " has no sparse result, because it has not succeeded");
    }
    return sparseSum;
  }
}
