package org.sparkcollectives.internal.engine;

import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.DeviceStream;
import org.sparkcollectives.OpType;
import org.sparkcollectives.Work;
import org.sparkcollectives.internal.liveness.LeaveTracker;
import org.sparkcollectives.internal.work.PendingWork;
import org.sparkcollectives.spi.BackendOperation;
import org.sparkcollectives.spi.BackendOperations;
import org.sparkcollectives.store.Backoff;

/**
 * An operation that a backend carries out by itself. The thread that awaits it polls for its end:
 * first without pause, because a device's short operations take less than a thread switch, then at
 * intervals.
 */
class BackendWork extends PendingWork implements BackendOperations.Begun {

  private static final long SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

  private final OperationQueue queue;
  private final BackendOperation operation;
  private final String backend;
  private final boolean pointToPoint;

  BackendWork(OperationQueue queue, BackendCall call) {
    super(queue.monitor(), call.spec(), call.limit(), call.outputs());
    this.queue = queue;
    this.backend = call.backend();
    this.operation = call.operation();
    this.pointToPoint = call.spec().type().isPointToPoint();
  }

  @Override
  protected final void help(long nanos) {
    Backoff backoff = Backoff.every(PAUSE_NANOS);
    long begin = System.nanoTime();
    while (!poll() && !Thread.currentThread().isInterrupted()) {
      long waited = System.nanoTime() - begin;
      if (waited >= nanos) {
        return;
      }
      if (waited < SPIN_NANOS) {
        Thread.onSpinWait();
      } else {
        backoff.pause();
      }
    }
  }

  /** Returns whether the operation has ended, and completes the work if so. */
  private boolean poll() {
    if (isCompleted()) {
      return true;
    }
    boolean done;
    try {
      done = operation.isDone();
    } catch (RuntimeException | Error e) {
      // An Error is caught too: the thread that awaits this must not be the only one to know.
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
    return opType() == OpType.RECV && isCompleted() ? spec().peer() : super.sourceRank();
  }

  /**
   * Completes the work. When a group fails its backends abort what is under way, and a device may
   * then report it as done: an operation that ends after the failure has failed.
   */
  @Override
  public final void completed() {
    if (monitor().state().failed()) {
      groupFailed();
      return;
    }
    if (!pointToPoint) {
      queue.completed(sequenceNumber());
    }
    recordAlgorithm(pointToPoint ? "" : backend);
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
  public void groupFailed() {
    complete(monitor().state().exceptionFor(describe()));
  }

  /**
   * Returns -1 for a message, which may still be on its way when its sender has left: it arrives,
   * or times out.
   */
  @Override
  public int departedPeer(LeaveTracker leaves) {
    return pointToPoint ? -1 : leaves.leftBefore(sequenceNumber());
  }
}
