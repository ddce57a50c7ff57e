package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.store.Backoff;

/**
 * A communicator with its stream and its queue of operations, created when the first operation
 * needs it. Operations start in the order in which they were added. One thread at a time uses the
 * communicator: it launches operations, or has exclusive use of it for anything else, such as a
 * split.
 *
 * <p>While the communicator does not exist, operations are queued, and a separate thread creates
 * it. So no caller waits for its peers, and ranks that meet each other in different orders do not
 * deadlock, as they would if the first message of a pair blocked. Afterwards the calling thread
 * enqueues operations in the stream itself: the thread that holds the lock does so for all.
 *
 * <p>Neither the creation nor a launch has a time limit of its own. Each operation has one; when
 * the first one passes, the group fails, which ends both.
 */
final class CommunicatorQueue {

  /** The interval at which a thread that waits for the lock checks its deadline. */
  private static final long CHECK_MILLIS = 100;

  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private final Nccl nccl;
  private final CudaDevice device;
  private final LazyCommunicator communicator;
  private final Object order = new Object();

  /** The operations to be launched; those of one element start together. */
  private final Queue<List<NcclOperation>> waiting = new ConcurrentLinkedQueue<>();

  /**
   * The operations in the stream, in its order, which is the order in which they end. Added under
   * the lock.
   */
  private final Queue<NcclOperation> launched = new ConcurrentLinkedQueue<>();

  /**
   * Held by the thread that uses the communicator, also while that waits for NCCL in {@link
   * Communicator#check}. An abort does not take it, and so ends the wait.
   */
  private final ReentrantLock lock = new ReentrantLock();

  /** True while NCCL may be busy with an exclusive use, also with one that was given up. */
  private boolean inProgress;

  /**
   * Creates an empty queue.
   *
   * @param communicator used by this queue alone
   */
  CommunicatorQueue(Nccl nccl, CudaDevice device, LazyCommunicator communicator) {
    this.nccl = nccl;
    this.device = device;
    this.communicator = communicator;
  }

  /** The calls of NCCL in an exclusive use. It must not wait longer than its deadline. */
  interface Use<T> {
    T run(Communicator communicator, Deadline deadline);
  }

  /**
   * Returns the monitor to hold while an operation gets its sequence number and is added to the
   * queue.
   */
  Object order() {
    return order;
  }

  /** Returns the communicator, which need not exist yet. */
  LazyCommunicator communicator() {
    return communicator;
  }

  /**
   * Adds operations that start together. Does not block. The caller must call {@link #begin} next.
   */
  void add(List<NcclOperation> operations) {
    waiting.add(operations);
  }

  /**
   * Starts the queued operations, now or as soon as the communicator is ready. Blocks for peers
   * only if NCCL has not finished a split that was given up: then until it has, or the group fails,
   * which happens at the first deadline of the queued operations.
   */
  void begin() {
    if (communicator.isDecided()) {
      drain();
    } else {
      communicator.startCreating(this::drain);
    }
  }

  private void drain() {
    // A thread that finds the lock held leaves its operations to the holder. So
    // the holder checks again after it has released the lock.
    while (!waiting.isEmpty() && lock.tryLock()) {
      List<NcclOperation> next;
      Throwable cause = null;
      try {
        next = waiting.poll();
        if (next != null) {
          cause = launch(next);
        }
      } finally {
        lock.unlock();
      }
      if (cause != null) {
        // The work waits for a better cause.
        for (NcclOperation each : next) {
          each.begun().failed(cause);
        }
      }
    }
  }

  /**
   * Launches operations. Returns the cause if they could not be launched; null if they were, or
   * need not be any more.
   */
  private Throwable launch(List<NcclOperation> operations) {
    if (communicator.failure() != null) {
      return communicator.failure();
    }
    if (communicator.isEnded()) {
      return null;
    }
    try {
      long previous = device.enter();
      try {
        enqueue(operations);
      } finally {
        device.leave(previous);
      }
      return null;
    } catch (RuntimeException | Error e) {
      // Failures caused by the end of the group end with the group.
      return communicator.isEnded() ? null : e;
    }
  }

  private void enqueue(List<NcclOperation> operations) {
    Communicator own = communicator.get();
    long handle = communicator.stream();
    operations.forEach(each -> each.beginIn(handle));
    own.exclusively(
        () -> {
          Deadline deadline = Deadline.whileWanted(communicator::isUnwanted);
          awaitGivenUp(own, deadline);
          CommunicatorStream target = new CommunicatorStream(nccl, own, handle);
          own.checkBegun("ncclGroupStart", nccl.groupStart());
          int result;
          try {
            operations.forEach(each -> each.call().into(target));
          } finally {
            // Called after an error too: the thread must not stay inside the group.
            result = nccl.groupEnd();
          }
          own.check("ncclGroupEnd", result, deadline);
          return own;
        });
    for (NcclOperation each : operations) {
      each.launchedIn(handle);
      launched.add(each);
      each.begun().started();
    }
  }

  /**
   * Removes launched operations that are over, from the first on, until one is not. For one thread.
   */
  void removeWhile(Predicate<NcclOperation> isOver) {
    for (NcclOperation first = launched.peek(); first != null; first = launched.peek()) {
      if (!isOver.test(first)) {
        return;
      }
      launched.remove();
    }
  }

  /** Returns whether all operations that were added have ended, successfully or not. */
  boolean isIdle() {
    return waiting.isEmpty() && isStreamIdle();
  }

  private boolean isStreamIdle() {
    return launched.stream().allMatch(each -> each.begun().work().isCompleted());
  }

  private void awaitStreamIdle(Deadline deadline) {
    Backoff backoff = Backoff.every(PAUSE_NANOS);
    while (!isStreamIdle()) {
      deadline.check("the end of the operations in progress in " + this);
      backoff.pause();
    }
  }

  /**
   * Uses the communicator for something other than an operation, while no operation starts in it
   * and no other thread calls NCCL for it. Waits until the communicator exists, and NCCL has
   * finished earlier uses.
   *
   * @throws GroupAbortedException if the communicator is gone, or about to be
   */
  <T> T exclusively(Duration atMost, Use<T> use) {
    return exclusively(atMost, deadline -> {}, use);
  }

  /**
   * Does the same as {@link #exclusively} once all operations that have started are done: NCCL may
   * lock up if operations are in progress while others are created out of it (user guide,
   * "ncclCommSplit").
   */
  <T> T exclusivelyWhenIdle(Duration atMost, Use<T> use) {
    return exclusively(atMost, this::awaitStreamIdle, use);
  }

  private <T> T exclusively(Duration atMost, Consumer<Deadline> before, Use<T> use) {
    Deadline deadline = Deadline.in(atMost, communicator::isUnwanted);
    lock(deadline);
    try {
      before.accept(deadline);
      return run(use, deadline);
    } finally {
      lock.unlock();
      // Operations that were added meanwhile were left to the holder of the lock.
      drain();
    }
  }

  private <T> T run(Use<T> use, Deadline deadline) {
    // An abort may have come before.
    deadline.check("exclusive use of " + this);
    long previous = device.enter();
    try {
      Communicator own = communicator.await(deadline);
      return own.exclusively(
          () -> {
            awaitGivenUp(own, deadline);
            inProgress = true;
            T result = use.run(own, deadline);
            inProgress = false;
            return result;
          });
    } catch (NcclException e) {
      // A failure after an abort is no error of NCCL's.
      deadline.check("NCCL's answer for " + this);
      throw e;
    } finally {
      device.leave(previous);
    }
  }

  /**
   * Waits for an exclusive use that was given up: NCCL refuses every call for a communicator out of
   * which it still creates another.
   */
  private void awaitGivenUp(Communicator own, Deadline deadline) {
    if (inProgress) {
      own.check("earlier split or shrink", NcclResult.IN_PROGRESS, deadline);
      inProgress = false;
    }
  }

  private void lock(Deadline deadline) {
    try {
      while (!lock.tryLock(CHECK_MILLIS, TimeUnit.MILLISECONDS)) {
        deadline.check("the lock of " + this);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CollectiveException("Interrupted while " + this + " was in use", e);
    }
  }

  /** Releases the communicator, on which no operation is in progress. May block for its peers. */
  void close(Duration atMost) {
    Communicator own = communicator.get();
    if (!communicator.isEnded() && own != null) {
      Deadline deadline = Deadline.in(atMost, () -> false);
      lock(deadline);
      long previous = device.enter();
      try {
        own.close(deadline.left());
      } finally {
        device.leave(previous);
        lock.unlock();
      }
    }
    communicator.abort();
  }

  /**
   * Waits until no thread holds the lock. After the end the holder is the last thread that uses the
   * stream. An interrupt flag is kept.
   *
   * @return false if that takes longer
   */
  boolean awaitUnused(Duration atMost) {
    long end = System.nanoTime() + atMost.toNanos();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          boolean free = lock.tryLock(end - System.nanoTime(), TimeUnit.NANOSECONDS);
          if (free) {
            lock.unlock();
          }
          return free;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Releases the stream and the operations. A closed group that stays reachable must not keep their
   * tensors. Called once the communicator is gone, and nobody uses them any more.
   */
  void release() {
    waiting.clear();
    launched.clear();
    communicator.closeStream();
  }

  @Override
  public String toString() {
    return communicator.name();
  }
}
