package org.sparkcollectives.gpu.nccl;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.sparkcollectives.BackendOperations;

/**
 * Looks after the operations that nobody awaits, and after what NCCL reports: on a thread of its
 * own, because a call of the driver can get stuck, and then the group's watchdog must still come
 * round to end the operation at its deadline.
 */
final class NcclWatch implements AutoCloseable {

  private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long ERROR_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final BackendOperations operations;
  private final Supplier<RuntimeException> error;
  private final Queue<NcclOperation> pending = new ConcurrentLinkedQueue<>();
  private final Thread thread;
  private volatile boolean closed;
  private long lastErrorLook = System.nanoTime();

  /**
   * Begins to look.
   *
   * @param error what NCCL reports, or null
   */
  NcclWatch(BackendOperations operations, DaemonThreads threads, Supplier<RuntimeException> error) {
    this.operations = operations;
    this.error = error;
    this.thread = threads.start("nccl-watch", this::run);
  }

  /** From now on looks whether an operation is done. */
  void watch(NcclOperation operation) {
    boolean idle = pending.isEmpty();
    pending.add(operation);
    if (idle) {
      LockSupport.unpark(thread);
    }
  }

  private void run() {
    while (!closed) {
      pending.removeIf(this::isOver);
      long now = System.nanoTime();
      if (now - lastErrorLook >= ERROR_NANOS) {
        lastErrorLook = now;
        RuntimeException found = error.get();
        if (found != null && !operations.hasFailed()) {
          operations.fail(found);
        }
      }
      LockSupport.parkNanos(this, pending.isEmpty() ? IDLE_NANOS : BUSY_NANOS);
    }
  }

  private boolean isOver(NcclOperation operation) {
    if (operation.begun().work().isCompleted()) {
      // Whoever saw it first has done the rest, unless it has failed: then its end drops it.
      return operation.begun().work().isSuccess();
    }
    try {
      if (operation.isDone()) {
        operation.begun().completed();
        return true;
      }
    } catch (RuntimeException e) {
      operation.begun().failed(e);
    }
    return false;
  }

  /** Gives up all that is not done, when its stream has come to an end. */
  void dropAll() {
    for (NcclOperation each = pending.poll(); each != null; each = pending.poll()) {
      each.drop();
    }
  }

  /** Stops looking; does not wait for a look that is under way. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
