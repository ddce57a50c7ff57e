package org.sparkcollectives.engine;

import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.sparkcollectives.BackendOperation;
import org.sparkcollectives.BackendOperations;
import org.sparkcollectives.DeviceStream;
import org.sparkcollectives.OpType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.internal.failure.GroupMonitor;
import org.sparkcollectives.internal.failure.LeaveTracker;
import org.sparkcollectives.internal.failure.OperationDescription;
import org.sparkcollectives.internal.failure.PendingWork;
import org.sparkcollectives.internal.failure.TimeLimit;

/**
 * An operation that a backend carries out by itself. Whoever awaits it looks for its end: first
 * without pause, because a device's short operations take less than a thread switch, then at
 * intervals.
 */
class BackendWork extends PendingWork implements BackendOperations.Begun {

  private static final long SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

  private final Channel channel;
  private final BackendOperation operation;
  private final boolean pointToPoint;
  private final int peer;

  BackendWork(
      Channel channel,
      GroupMonitor monitor,
      OperationDescription description,
      long sequenceNumber,
      TimeLimit limit,
      List<Tensor> outputs,
      int peer,
      BackendOperation operation) {
    super(monitor, description, sequenceNumber, limit, outputs);
    this.channel = channel;
    this.operation = operation;
    this.pointToPoint = description.type().isPointToPoint();
    this.peer = peer;
    if (peer >= 0) {
      recordPeer(peer);
    }
  }

  @Override
  protected final void help(long nanos) {
    long begin = System.nanoTime();
    while (!look() && !Thread.currentThread().isInterrupted()) {
      long waited = System.nanoTime() - begin;
      if (waited >= nanos) {
        return;
      }
      if (waited < SPIN_NANOS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(this, PAUSE_NANOS);
      }
    }
  }

  /** Whether it has ended, which is then known to all. */
  private boolean look() {
    if (isCompleted()) {
      return true;
    }
    boolean done;
    try {
      done = operation.isDone();
    } catch (RuntimeException | Error e) {
      // An Error, too: whoever awaits this must not be the only one to know.
      failed(e);
      return true;
    }
    if (done) {
      completed();
    }
    return done;
  }

  @Override
  public final Work work() {
    return this;
  }

  @Override
  public final int sourceRank() {
    return opType() == OpType.RECV && isCompleted() ? peer : super.sourceRank();
  }

  /**
   * When a group fails its backends give up what is under way, and a device then may say that it is
   * done: what ends after the failure has failed.
   */
  @Override
  public final void completed() {
    if (monitor().state().failed()) {
      groupFailed();
      return;
    }
    if (!pointToPoint) {
      channel.completed(sequenceNumber());
    }
    complete(null);
  }

  @Override
  public final void failed(Throwable cause) {
    if (!isCompleted()) {
      complete(monitor().reports().operationFailed(this, cause));
    }
  }

  @Override
  public final void synchronize(DeviceStream stream) {
    if (isCompleted()) {
      await();
    } else {
      operation.synchronize(stream);
    }
  }

  @Override
  public final OptionalDouble durationMillis() {
    OptionalDouble measured = isSuccess() ? operation.durationMillis() : OptionalDouble.empty();
    return measured.isPresent() ? measured : super.durationMillis();
  }

  @Override
  protected void groupFailed() {
    complete(monitor().state().exceptionFor(describe()));
  }

  /** A message may be on its way still when its sender has left: then it comes, or the deadline. */
  @Override
  protected int waitsInVainFor(LeaveTracker leaves) {
    return pointToPoint ? -1 : leaves.leftBefore(sequenceNumber());
  }

  @Override
  protected final String whoIsMissing() {
    return "which ranks have not arrived is not known";
  }
}
