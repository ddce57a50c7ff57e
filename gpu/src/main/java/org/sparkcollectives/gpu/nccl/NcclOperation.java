package org.sparkcollectives.gpu.nccl;

import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DeviceStream;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.MemoryUse;
import org.sparkcollectives.spi.BackendOperation;
import org.sparkcollectives.spi.BackendOperations;

/**
 * An operation on its way through a stream. Two events mark its progress: one in the caller's
 * stream, after which it may start, and one in the communicator's stream, after which it is done.
 *
 * <p>It keeps the memory of the tensors until it is done.
 */
final class NcclOperation implements BackendOperation {

  /** The NCCL calls of an operation. */
  interface Call {
    void into(CommunicatorStream target);
  }

  private enum State {
    /** The operation waits for its communicator. */
    QUEUED,
    /** The operation is in the stream. */
    LAUNCHED,
    DONE,
    /** The operation was given up. */
    DROPPED
  }

  private final LazyCommunicator communicator;
  private final OperationEvents events;
  private final CudaDevice device;

  /** Null once the operation is over, because it refers to the tensors, too. */
  private volatile Call call;

  private final long callerReady;

  /** Keeps the memory of its tensors, even if somebody frees them meanwhile. */
  private final MemoryUse memory;

  /** Keeps the tensors reachable: memory of another library may be freed with them. */
  @SuppressWarnings("UnusedVariable")
  private List<DeviceTensor> tensors;

  private BackendOperations.Begun begun;
  private State state = State.QUEUED;
  private long start;
  private long end;
  private OptionalDouble millis = OptionalDouble.empty();

  /**
   * Creates an operation that starts after the work in the caller's stream now. The device must be
   * current on the thread.
   *
   * @param communicator in which it will run
   * @param callerStream the stream after whose work it starts
   */
  NcclOperation(
      LazyCommunicator communicator,
      OperationEvents events,
      List<DeviceTensor> tensors,
      Call call,
      long callerStream) {
    this.communicator = communicator;
    this.events = events;
    this.device = events.device();
    this.tensors = tensors;
    this.call = call;
    this.memory = DeviceTensor.use(tensors);
    this.callerReady = events.recordReady(callerStream);
  }

  /** Sets its number. Called once, before it is launched. */
  void begun(BackendOperations.Begun number) {
    begun = number;
  }

  BackendOperations.Begun begun() {
    return begun;
  }

  Call call() {
    return call;
  }

  /**
   * Makes later work in the stream wait for the caller's. The device must be current on the thread.
   */
  synchronized void beginIn(long stream) {
    device.cuda().streamWaitEvent(stream, callerReady);
    start = events.recordStart(stream);
  }

  /** Marks that the whole operation is in the stream. The device must be current on the thread. */
  synchronized void launchedIn(long stream) {
    if (state != State.QUEUED) {
      return;
    }
    end = events.recordEnd(start, stream);
    // The wait for the event is in the stream already: the driver keeps what it needs.
    events.giveBackReady(callerReady);
    state = State.LAUNCHED;
    notifyAll();
  }

  @Override
  public synchronized boolean isDone() {
    if (state != State.LAUNCHED) {
      return state == State.DONE;
    }
    long previous = device.enter();
    try {
      if (!device.cuda().hasHappened(end)) {
        return false;
      }
      // NCCL's kernels also end when it has noticed an error, or was aborted.
      RuntimeException error = communicator.error();
      if (error != null) {
        throw error;
      }
      if (communicator.isEnded()) {
        return false;
      }
      millis = events.giveBack(start, end);
    } finally {
      device.leave(previous);
    }
    end(State.DONE);
    return true;
  }

  private void end(State how) {
    if (how == State.DONE || begun == null) {
      memory.close();
    } else {
      // Its kernels may still run.
      memory.abandon();
    }
    state = how;
    tensors = List.of();
    call = null;
    notifyAll();
  }

  /** Gives the operation up, because the group has failed and its stream has finished. */
  synchronized void drop() {
    if (state == State.QUEUED || state == State.LAUNCHED) {
      long previous = device.enter();
      try {
        if (state == State.LAUNCHED) {
          device.cuda().destroyEvent(end);
        } else {
          device.cuda().destroyEvent(callerReady);
        }
        if (start != 0) {
          device.cuda().destroyEvent(start);
        }
      } finally {
        device.leave(previous);
        end(State.DROPPED);
      }
    }
  }

  /** Waits, if it must, until the operation is in its own stream, that is, for its communicator. */
  @Override
  public synchronized void synchronize(DeviceStream stream) {
    if (!stream.device().equals(device.device())) {
      throw new IllegalArgumentException(
          begun.describe() + " is on " + device.device() + ", and the " + stream + " is not");
    }
    while (state == State.QUEUED && !begun.work().isCompleted()) {
      try {
        TimeUnit.MILLISECONDS.timedWait(this, 10);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CollectiveException(
            "Interrupted while " + begun.describe() + " waited for its communicator", e);
      }
    }
    if (state == State.LAUNCHED) {
      long previous = device.enter();
      try {
        device.cuda().streamWaitEvent(stream.handle(), end);
      } finally {
        device.leave(previous);
      }
    } else {
      // It has ended, successfully or not.
      begun.work().await();
    }
  }

  @Override
  public synchronized OptionalDouble durationMillis() {
    return millis;
  }
}
