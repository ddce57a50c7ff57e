package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;

/**
 * A communicator with its stream, made when the first operation wants it: what is put in begins in
 * that order.
 *
 * <p>While there is no communicator yet, operations queue up, and a thread of its own makes it; so
 * no caller waits for its peers, and two ranks that meet others in different orders do not wait for
 * each other in a circle, as they do where the first message of a pair blocks. Afterwards the
 * caller's thread puts operations into the stream itself: whoever has the lock does so for all.
 */
final class CommunicatorLane {

  private static final long LOCK_SECONDS = 1;
  private static final long PATIENCE_MILLIS = 100;

  private final Nccl nccl;
  private final CudaDevice device;
  private final String name;
  private final boolean highPriority;
  private final Duration timeout;
  private final Deadline.Cancelled cancelled;
  private final Maker maker;
  private final DaemonThreads threads;
  private final Queue<List<NcclOperation>> waiting = new ConcurrentLinkedQueue<>();
  private final ReentrantLock turn = new ReentrantLock();
  private final AtomicBoolean making = new AtomicBoolean();
  private volatile CudaStream stream;
  private volatile Communicator communicator;
  private volatile RuntimeException failure;
  private volatile boolean ended;

  /**
   * Of a communicator that is not made yet.
   *
   * @param name of the communicator, for errors
   * @param timeout of the making, and of each launch
   * @param cancelled whether the group has failed
   * @param maker makes the communicator; its device is that of the thread
   */
  CommunicatorLane(
      Nccl nccl,
      CudaDevice device,
      String name,
      boolean highPriority,
      Duration timeout,
      DaemonThreads threads,
      Deadline.Cancelled cancelled,
      Maker maker) {
    this.nccl = nccl;
    this.device = device;
    this.name = name;
    this.highPriority = highPriority;
    this.timeout = timeout;
    this.threads = threads;
    this.cancelled = cancelled;
    this.maker = maker;
  }

  /** Makes the communicator, whose device is that of the thread. */
  interface Maker {
    Communicator make(String name, Deadline deadline);
  }

  /** The communicator, or null if it is not ready. */
  Communicator communicator() {
    return communicator;
  }

  /** Makes the communicator on this thread. */
  void makeNow() {
    if (making.compareAndSet(false, true)) {
      make();
      if (failure != null) {
        throw failure;
      }
    }
  }

  /**
   * Puts operations in, to be begun together. Does not block for peers. {@link #begin} is to
   * follow.
   */
  void add(List<NcclOperation> operations) {
    waiting.add(operations);
  }

  /** Begins what was put in, now or as soon as the communicator is ready. */
  void begin() {
    if (communicator != null || failure != null) {
      drain();
    } else if (making.compareAndSet(false, true)) {
      threads.start(
          "nccl-init",
          () -> {
            make();
            drain();
          });
    }
  }

  private Deadline deadline(Duration atMost) {
    return Deadline.in(atMost, () -> ended || cancelled.isCancelled());
  }

  private void make() {
    long previous = device.enter();
    try {
      CudaStream made = CudaStream.create(device, highPriority);
      stream = made;
      Communicator ready = maker.make(name, deadline(timeout));
      communicator = ready;
      if (ended) {
        // Who ended it meanwhile has not seen it.
        ready.abort();
      }
    } catch (RuntimeException e) {
      failure = e;
    } finally {
      device.leave(previous);
    }
  }

  private void drain() {
    // Who comes while another has the turn may leave its operations to it; which therefore looks
    // again after it has given up the turn.
    while (!waiting.isEmpty() && turn.tryLock()) {
      try {
        List<NcclOperation> next = waiting.poll();
        if (next != null) {
          launch(next);
        }
      } finally {
        turn.unlock();
      }
    }
  }

  private void launch(List<NcclOperation> operations) {
    RuntimeException cause = failure;
    if (cause == null && !ended) {
      long previous = device.enter();
      try {
        put(operations);
      } catch (RuntimeException e) {
        cause = e;
      } finally {
        device.leave(previous);
      }
    }
    if (cause != null) {
      for (NcclOperation each : operations) {
        each.begun().failed(cause);
      }
    }
  }

  private void put(List<NcclOperation> operations) {
    Communicator own = communicator;
    long handle = stream.handle();
    operations.forEach(each -> each.beginIn(handle));
    CommunicatorStream target = new CommunicatorStream(nccl, own, handle);
    own.checkBegun("ncclGroupStart", nccl.groupStart());
    int result;
    try {
      operations.forEach(each -> each.call().into(target));
    } finally {
      // Also after an error: the thread must not stay within the group.
      result = nccl.groupEnd();
    }
    own.check("ncclGroupEnd", result, deadline(timeout));
    for (NcclOperation each : operations) {
      each.launchedIn(handle);
      each.begun().started();
    }
  }

  /** What is made of a communicator that is ready. */
  interface Derivation<T> {
    T from(Communicator communicator, Deadline deadline);
  }

  /**
   * Uses the communicator for another purpose, while no operation is begun in it.
   *
   * @throws GroupAbortedException if the communicator is, or is about to be, gone
   */
  <T> T derive(Duration atMost, Derivation<T> derivation) {
    Deadline deadline = deadline(atMost);
    takeTurn(deadline);
    try {
      // An abort may have had the turn before: NCCL does not survive a handle that is gone.
      deadline.check("the turn to use " + name);
      long previous = device.enter();
      try {
        return derivation.from(communicator, deadline);
      } finally {
        device.leave(previous);
      }
    } finally {
      turn.unlock();
      // What was put in meanwhile was left to the holder of the turn.
      drain();
    }
  }

  private void takeTurn(Deadline deadline) {
    try {
      while (!turn.tryLock(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
        deadline.check("the turn to use " + name);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CollectiveException("Interrupted while " + name + " was in use", e);
    }
  }

  /** Looks whether NCCL reports an error; null if it does not. */
  RuntimeException error() {
    Communicator own = communicator;
    if (own == null || ended) {
      return null;
    }
    int state = own.asyncError();
    return state == NcclResult.SUCCESS || state == NcclResult.IN_PROGRESS
        ? null
        : own.failure("An operation", state);
  }

  /** Whether the communicator is, or is about to be, let go of. */
  boolean isEnded() {
    return ended;
  }

  /** Ends what is under way. May block for as long as NCCL does. */
  void abort() {
    ended = true;
    boolean alone = haveTurn();
    try {
      Communicator own = communicator;
      if (own != null) {
        long previous = device.enter();
        try {
          own.abort();
        } finally {
          device.leave(previous);
        }
      }
    } finally {
      if (alone) {
        turn.unlock();
      }
    }
  }

  /** Waits for a launch to notice the end; one that is stuck in NCCL only the abort ends. */
  private boolean haveTurn() {
    try {
      return turn.tryLock(LOCK_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Lets go of the communicator, on which nothing is under way. May block for its peers. */
  void close(Duration atMost) {
    Communicator own = communicator;
    if (own != null && !ended) {
      long previous = device.enter();
      try {
        own.close(atMost);
      } finally {
        device.leave(previous);
      }
    }
    ended = true;
  }

  /** Lets go of the stream, when the communicator is gone. */
  void closeStream() {
    CudaStream own = stream;
    if (own != null) {
      own.close();
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
