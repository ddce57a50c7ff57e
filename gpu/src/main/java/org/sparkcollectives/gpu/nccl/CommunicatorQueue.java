package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.gpu.cuda.CudaDevice;

/**
 * A communicator with its stream and its queue of operations, created when the first operation
 * needs it. Operations start in the order in which they were added.
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

  private final Nccl nccl;
  private final CudaDevice device;
  private final LazyCommunicator communicator;
  private final DaemonThreads threads;
  private final Queue<List<NcclOperation>> waiting = new ConcurrentLinkedQueue<>();

  private final LaunchedOperations launched = new LaunchedOperations();

  private final Object order = new Object();
  private final CommunicatorLock lock;

  /** Guarded by the lock. */
  private final ExclusiveUse exclusiveUse;

  /**
   * Creates an empty queue.
   *
   * @param communicator used by this queue alone
   */
  CommunicatorQueue(
      Nccl nccl, CudaDevice device, DaemonThreads threads, LazyCommunicator communicator) {
    this.nccl = nccl;
    this.device = device;
    this.threads = threads;
    this.communicator = communicator;
    this.lock = new CommunicatorLock(communicator.name());
    this.exclusiveUse = new ExclusiveUse(device, communicator);
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
   * Creates the communicator on a separate thread, because NCCL may not return, and waits for it.
   */
  void createNow(Duration timeout) {
    communicator.createNow(timeout);
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

  private boolean isUnwanted() {
    return communicator.isUnwanted();
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
    if (isEnded()) {
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
      return isEnded() ? null : e;
    }
  }

  private void enqueue(List<NcclOperation> operations) {
    Communicator own = communicator.get();
    long handle = communicator.stream();
    operations.forEach(each -> each.beginIn(handle));
    own.exclusively(
        () -> {
          exclusiveUse.awaitEarlier(own, Deadline.whileWanted(this::isUnwanted));
          CommunicatorStream target = new CommunicatorStream(nccl, own, handle);
          own.checkBegun("ncclGroupStart", nccl.groupStart());
          int result;
          try {
            operations.forEach(each -> each.call().into(target));
          } finally {
            // Called after an error too: the thread must not stay inside the group.
            result = nccl.groupEnd();
          }
          own.check("ncclGroupEnd", result, Deadline.whileWanted(this::isUnwanted));
          return own;
        });
    for (NcclOperation each : operations) {
      each.launchedIn(handle);
      launched.add(each);
      each.begun().started();
    }
  }

  /** Returns the operations in the stream. */
  LaunchedOperations launched() {
    return launched;
  }

  /** Returns whether all operations that were added are done. */
  boolean isIdle() {
    return waiting.isEmpty() && launched.areOver();
  }

  /**
   * Uses the communicator for something other than an operation, while no operation starts in it.
   *
   * @throws GroupAbortedException if the communicator is gone, or about to be
   */
  <T> T exclusively(Duration atMost, ExclusiveUse.Body<T> body) {
    return exclusively(atMost, deadline -> {}, body);
  }

  /**
   * Does the same as {@link #exclusively} once all operations that have started are done: NCCL may
   * lock up if operations are in progress while others are created out of it (user guide,
   * "ncclCommSplit").
   */
  <T> T exclusivelyWhenIdle(Duration atMost, ExclusiveUse.Body<T> body) {
    return exclusively(atMost, deadline -> launched.await(deadline, communicator.name()), body);
  }

  private <T> T exclusively(Duration atMost, Consumer<Deadline> before, ExclusiveUse.Body<T> body) {
    Deadline deadline = Deadline.in(atMost, this::isUnwanted);
    lock.lock(deadline);
    try {
      before.accept(deadline);
      return exclusiveUse.run(deadline, body);
    } finally {
      lock.unlock();
      // Operations that were added meanwhile were left to the holder of the lock.
      drain();
    }
  }

  /**
   * Starts a thread that aborts a communicator which NCCL may still create out of this one. Does
   * not block.
   */
  void abortLate(Communicator late) {
    Communicator own = communicator.get();
    threads.start(
        "nccl-late",
        () -> {
          long previous = device.enter();
          try {
            late.abortLate(own);
          } finally {
            device.leave(previous);
          }
        });
  }

  /** Returns whether the communicator is released, or about to be. */
  boolean isEnded() {
    return communicator.isEnded();
  }

  /** Prevents any further use of the communicator, which must then be released. */
  void end() {
    communicator.end();
  }

  /**
   * Aborts the operations in progress. Blocks as long as NCCL does, and as long as another thread
   * is inside NCCL: none may be there when NCCL releases the communicator.
   */
  void abort() {
    communicator.abort();
  }

  /** Releases the communicator, on which no operation is in progress. May block for its peers. */
  void close(Duration atMost) {
    Communicator own = communicator.get();
    if (!isEnded() && own != null) {
      Deadline deadline = Deadline.in(atMost, () -> false);
      lock.lock(deadline);
      long previous = device.enter();
      try {
        own.close(deadline.left());
      } finally {
        device.leave(previous);
        lock.unlock();
      }
    }
    abort();
  }

  /**
   * Waits until no thread holds the lock. After the end the holder is the last thread that uses the
   * stream.
   *
   * @return false if that takes longer
   */
  boolean awaitUnused(Duration atMost) {
    return lock.awaitUnlocked(atMost);
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
