package org.sparkcollectives.gpu.nccl;

import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.BackendOperation;
import org.sparkcollectives.BackendOperations;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DeviceStream;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.Cuda;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.EventCache;
import org.sparkcollectives.gpu.cuda.MemoryUse;

/**
 * An operation on its way through a stream. Its events tell how far it is: one in the stream of the
 * caller, after which it may begin, one in the communicator's stream after which it is done.
 *
 * <p>It keeps the memory of the tensors until it is done.
 */
final class NcclOperation implements BackendOperation {

  /** What an operation asks of NCCL. */
  interface Call {
    void into(CommunicatorStream target);
  }

  private enum State {
    /** It waits for its communicator. */
    QUEUED,
    /** It is in the stream. */
    LAUNCHED,
    DONE,
    /** It was given up. */
    DROPPED
  }

  private final CommunicatorLane lane;
  private final CudaDevice device;
  private final EventCache events;

  /** Of events that measure; null if nothing is measured. */
  private final EventCache timers;

  /** Null once it is over: it has the tensors, too. */
  private volatile Call call;

  private final long callerReady;

  /** Keeps the memory of its tensors, also of those that somebody frees meanwhile. */
  private final MemoryUse memory;

  /** Kept reachable: memory that is another library's may be theirs. */
  @SuppressWarnings("UnusedVariable")
  private List<DeviceTensor> tensors;

  private BackendOperations.Begun begun;
  private State state = State.QUEUED;
  private long start;
  private long end;
  private OptionalDouble millis = OptionalDouble.empty();

  /**
   * Of what is in the caller's stream now. The device is that of the thread.
   *
   * @param lane that it goes into
   * @param timers of events that measure, or null
   * @param callerStream after which it begins
   */
  NcclOperation(
      CommunicatorLane lane,
      CudaDevice device,
      EventCache events,
      EventCache timers,
      List<DeviceTensor> tensors,
      Call call,
      long callerStream) {
    this.lane = lane;
    this.device = device;
    this.events = events;
    this.timers = timers;
    this.tensors = tensors;
    this.call = call;
    this.memory = DeviceTensor.use(tensors);
    this.callerReady = events.take();
    boolean recorded = false;
    try {
      device.cuda().recordEvent(callerReady, callerStream);
      recorded = true;
    } finally {
      if (!recorded) {
        events.giveBack(callerReady);
      }
    }
  }

  /** It has its number; to be called once, before it is launched. */
  void begun(BackendOperations.Begun number) {
    begun = number;
  }

  BackendOperations.Begun begun() {
    return begun;
  }

  Call call() {
    return call;
  }

  /** What follows in the stream waits for the caller's. The device is that of the thread. */
  synchronized void beginIn(long stream) {
    Cuda cuda = device.cuda();
    cuda.streamWaitEvent(stream, callerReady);
    if (timers != null) {
      start = timers.take();
      cuda.recordEvent(start, stream);
    }
  }

  /** All of it is in the stream. The device is that of the thread. */
  synchronized void launchedIn(long stream) {
    if (state != State.QUEUED) {
      return;
    }
    end = timers == null ? events.take() : timers.take();
    device.cuda().recordEvent(end, stream);
    // The stream has been told to wait for it: the driver keeps what it needs of that.
    events.giveBack(callerReady);
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
      // NCCL's kernels also end when it has noticed an error, or was told to abort.
      RuntimeException error = lane.error();
      if (error != null) {
        throw error;
      }
      if (lane.isEnded()) {
        return false;
      }
      if (timers == null) {
        events.giveBack(end);
      } else {
        millis = OptionalDouble.of(device.cuda().elapsedMillis(start, end));
        timers.giveBack(start);
        timers.giveBack(end);
      }
    } finally {
      device.leave(previous);
    }
    ended(State.DONE);
    return true;
  }

  private void ended(State how) {
    if (how == State.DONE || begun == null) {
      memory.close();
    } else {
      // Its kernels may not have come to an end yet.
      memory.abandon();
    }
    state = how;
    tensors = List.of();
    call = null;
    notifyAll();
  }

  /** Gives it up: the group has failed, and its stream has come to an end. */
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
        ended(State.DROPPED);
      }
    }
  }

  /** Waits, if it must, until the operation is in its own stream: for its communicator. */
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
      // It has ended, well or not.
      begun.work().await();
    }
  }

  @Override
  public synchronized OptionalDouble durationMillis() {
    return millis;
  }
}
