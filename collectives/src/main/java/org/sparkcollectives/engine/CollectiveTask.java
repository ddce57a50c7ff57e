package org.sparkcollectives.engine;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.internal.failure.GroupMonitor;
import org.sparkcollectives.internal.failure.LeaveTracker;
import org.sparkcollectives.internal.failure.OperationDescription;
import org.sparkcollectives.internal.failure.PendingWork;
import org.sparkcollectives.internal.failure.TimeLimit;

/** A collective in the queue of its group's channel. */
class CollectiveTask extends PendingWork implements ChannelTask {

  private final Channel channel;
  private final Runnable body;

  /** Who takes the task: the thread that runs it, or the failure of the group. */
  private final AtomicBoolean taken = new AtomicBoolean();

  CollectiveTask(
      Channel channel,
      GroupMonitor monitor,
      OperationDescription description,
      long sequenceNumber,
      TimeLimit limit,
      List<Tensor> outputs,
      Runnable body) {
    super(monitor, description, sequenceNumber, limit, outputs);
    this.channel = channel;
    this.body = body;
  }

  @Override
  protected final void help(long nanos) {
    // Who runs it cannot stop in the middle: who wants to wait for a while only leaves it to
    // others.
    if (nanos == Long.MAX_VALUE) {
      channel.runUntil(this);
    }
  }

  @Override
  protected final void groupFailed() {
    if (taken.compareAndSet(false, true)) {
      complete(monitor().state().exceptionFor(describe()));
    }
  }

  @Override
  protected final int waitsInVainFor(LeaveTracker leaves) {
    // One that is still in the queue waits for the operation before it, which may yet succeed.
    return taken.get() ? leaves.leftBefore(sequenceNumber()) : -1;
  }

  @Override
  protected final String whoIsMissing() {
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

  /** Every outcome ends in {@link #complete}. */
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
      body.run();
    } catch (RuntimeException | Error e) {
      cause = monitor().reports().operationFailed(this, e);
    }
    complete(cause);
  }
}
