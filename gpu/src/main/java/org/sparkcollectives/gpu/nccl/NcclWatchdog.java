package org.sparkcollectives.gpu.nccl;

import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.spi.BackendOperations;

/**
 * Watches the operations that nobody awaits, and the errors that NCCL reports. It has a thread of
 * its own, because a call of the driver can hang, and the group's watchdog must still end the
 * operation at its deadline.
 *
 * <p>The operations of a communicator end in the order of its stream. So the driver is queried for
 * the first one only, and for the next once that is done.
 */
final class NcclWatchdog implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(NcclWatchdog.class);
  private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long ERROR_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final BackendOperations operations;
  private final Supplier<? extends Collection<CommunicatorQueue>> queues;

  /** The operations that are not done, launched or not. */
  private final Set<NcclOperation> pending = ConcurrentHashMap.newKeySet();

  private volatile Thread thread;
  private volatile boolean closed;
  private long lastErrorCheck = System.nanoTime();

  /**
   * Creates a watchdog that has not started.
   *
   * @param queues returns the queues of the communicators that exist at the time
   */
  NcclWatchdog(
      BackendOperations operations, Supplier<? extends Collection<CommunicatorQueue>> queues) {
    this.operations = operations;
    this.queues = queues;
  }

  /** Starts to watch. */
  void start(DaemonThreads threads) {
    thread = threads.start("nccl-watchdog", this::run);
  }

  /** Watches an operation until it is done. */
  void watch(NcclOperation operation) {
    boolean idle = pending.isEmpty();
    pending.add(operation);
    if (operation.begun().work().isSuccess()) {
      // Another thread launched it, and it was over before it was added: nobody else forgets it.
      pending.remove(operation);
    } else if (idle) {
      LockSupport.unpark(thread);
    }
  }

  /** Returns whether there is nothing to watch. */
  boolean isIdle() {
    return pending.isEmpty();
  }

  private void run() {
    while (!closed) {
      try {
        poll();
      } catch (RuntimeException | Error e) {
        // Nobody would watch the other operations any more, so they end with it.
        LOG.error("The operations on a GPU could not be checked", e);
        operations.fail(e);
      }
      LockSupport.parkNanos(this, isIdle() ? IDLE_NANOS : BUSY_NANOS);
    }
  }

  private void poll() {
    Collection<CommunicatorQueue> all = queues.get();
    all.forEach(each -> each.removeWhile(this::isOver));
    long now = System.nanoTime();
    if (now - lastErrorCheck < ERROR_NANOS) {
      return;
    }
    lastErrorCheck = now;
    for (CommunicatorQueue each : all) {
      RuntimeException found = each.communicator().error();
      if (found != null && !operations.hasFailed()) {
        operations.fail(found);
      }
    }
  }

  private boolean isOver(NcclOperation operation) {
    if (operation.begun().work().isCompleted()) {
      // The first to see that it succeeded has done the rest. If it failed, the end of the group
      // drops it.
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

  /** Gives up all operations that are not done, when their stream has finished. */
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

  /** Stops the watchdog. Does not wait for a check that is in progress. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
