package org.sparkcollectives.gpu.nccl;

import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.BackendOperations;

/**
 * Looks after the operations that nobody awaits, and after what NCCL reports: on a thread of its
 * own, because a call of the driver can get stuck, and then the group's watchdog must still come
 * round to end the operation at its deadline.
 *
 * <p>The operations of a lane end in the order of its stream, so the driver is asked of the first
 * only, and of the next once that is done.
 */
final class NcclWatch implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(NcclWatch.class);
  private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long ERROR_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final BackendOperations operations;
  private final Supplier<? extends Collection<CommunicatorLane>> lanes;

  /** What is not done, launched or not. */
  private final Set<NcclOperation> pending = ConcurrentHashMap.newKeySet();

  private volatile Thread thread;
  private volatile boolean closed;
  private long lastErrorLook = System.nanoTime();

  /**
   * Does not look yet.
   *
   * @param lanes that there are at the time
   */
  NcclWatch(BackendOperations operations, Supplier<? extends Collection<CommunicatorLane>> lanes) {
    this.operations = operations;
    this.lanes = lanes;
  }

  /** Begins to look. */
  void start(DaemonThreads threads) {
    thread = threads.start("nccl-watch", this::run);
  }

  /** From now on looks whether an operation is done. */
  void watch(NcclOperation operation) {
    boolean idle = pending.isEmpty();
    pending.add(operation);
    if (operation.begun().work().isSuccess()) {
      // Another thread has launched it, and it was over before it came: nobody else forgets it.
      pending.remove(operation);
    } else if (idle) {
      LockSupport.unpark(thread);
    }
  }

  /** Whether there is nothing to look after. */
  boolean isIdle() {
    return pending.isEmpty();
  }

  private void run() {
    while (!closed) {
      try {
        look();
      } catch (RuntimeException | Error e) {
        // Nobody would look after the others any more, so that they end with it.
        LOG.error("The operations on a GPU could not be looked at", e);
        operations.fail(e);
      }
      LockSupport.parkNanos(this, isIdle() ? IDLE_NANOS : BUSY_NANOS);
    }
  }

  private void look() {
    Collection<CommunicatorLane> all = lanes.get();
    all.forEach(each -> each.launched().forgetFirst(this::isOver));
    long now = System.nanoTime();
    if (now - lastErrorLook < ERROR_NANOS) {
      return;
    }
    lastErrorLook = now;
    for (CommunicatorLane each : all) {
      RuntimeException found = each.error();
      if (found != null && !operations.hasFailed()) {
        operations.fail(found);
      }
    }
  }

  private boolean isOver(NcclOperation operation) {
    if (operation.begun().work().isCompleted()) {
      // Whoever saw it first has done the rest, unless it has failed: then its end drops it.
      return operation.begun().work().isSuccess() && forget(operation);
    }
    try {
      if (operation.isDone()) {
        operation.begun().completed();
        return forget(operation);
      }
    } catch (RuntimeException | Error e) {
      operation.begun().failed(e);
    }
    return false;
  }

  private boolean forget(NcclOperation operation) {
    pending.remove(operation);
    return true;
  }

  /** Gives up all that is not done, when its stream has come to an end. */
  void dropAll() {
    for (NcclOperation each : pending) {
      try {
        each.drop();
      } catch (RuntimeException | Error e) {
        LOG.debug("An operation could not be dropped", e);
      }
    }
    pending.clear();
  }

  /** Stops looking; does not wait for a look that is under way. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
