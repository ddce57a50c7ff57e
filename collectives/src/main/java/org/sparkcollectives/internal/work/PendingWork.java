package org.sparkcollectives.internal.work;

import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.OpType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.WorkResult;
import org.sparkcollectives.internal.failure.MonitoredOperation;
import org.sparkcollectives.internal.recorder.RecordRing;
import org.sparkcollectives.spi.OperationSpec;

/**
 * Implements what all kinds of work have in common: a deadline, a record, an end, and waiting for
 * it.
 */
public abstract class PendingWork implements Work, MonitoredOperation {

  private final GroupMonitor monitor;
  private final OperationSpec spec;
  private final TimeLimit limit;
  private final List<Tensor> outputs;

  /** The hash of the inputs; empty if it is not recorded. */
  private final String inputHash;

  // Set once, by begin, before another thread sees the work.
  private long sequenceNumber = -1;
  private EphemeralTimeout.Extension extension;
  private long deadlineNanos;
  private RecordRing.Entry entry;

  private final Object lock = new Object();
  private CompletableFuture<List<Tensor>> future;
  private volatile Throwable failure;
  private volatile boolean completed;

  /**
   * Creates the work of an operation that has not begun.
   *
   * @param outputs what the future of the work gives
   */
  public PendingWork(
      GroupMonitor monitor, OperationSpec spec, TimeLimit limit, List<Tensor> outputs) {
    this(monitor, spec, limit, List.of(), outputs);
  }

  /**
   * Creates the work of an operation that has not begun.
   *
   * @param inputs the tensors that it reads, whose hash is recorded if that is wanted
   * @param outputs the tensors that it writes, which the future of the work gives
   */
  public PendingWork(
      GroupMonitor monitor,
      OperationSpec spec,
      TimeLimit limit,
      List<? extends Tensor> inputs,
      List<Tensor> outputs) {
    this.monitor = monitor;
    this.spec = spec;
    this.limit = limit;
    this.outputs = outputs;
    this.inputHash = monitor.recordsHashes() ? TensorHash.of(inputs) : "";
  }

  /**
   * Begins the work, once: it is recorded, and from now on it ends at its deadline.
   *
   * @param number the number of the operation among the group's collectives or messages
   * @throws IllegalStateException if the group is being closed, which then does not wait for it
   */
  public final void begin(long number) {
    long now = monitor.time().nanos();
    sequenceNumber = number;
    extension = monitor.ephemeralTimeout().take();
    deadlineNanos = now + nanosOf(allowed());
    entry = monitor.records().record(spec, number, allowed().toMillis(), now);
    entry.gave(inputHash);
    entry.with(spec.peer());
    monitor.begin(this);
  }

  /**
   * Returns a hash code that is cheaper than the identity hash, which the virtual machine would
   * have to make for each work.
   */
  @Override
  public final int hashCode() {
    return Long.hashCode(sequenceNumber);
  }

  @Override
  public final boolean equals(Object other) {
    return this == other;
  }

  /**
   * Returns a duration in nanoseconds, bounded so that differences of the clock do not overflow.
   */
  private static long nanosOf(Duration timeout) {
    return timeout.compareTo(Duration.ofDays(10_000)) > 0
        ? Duration.ofDays(10_000).toNanos()
        : timeout.toNanos();
  }

  /** Lets the waiting thread run the operation, or find out that it has ended. */
  protected abstract void help(long nanos);

  /** Returns the monitor of the group whose operation it is. */
  public final GroupMonitor monitor() {
    return monitor;
  }

  @Override
  public final Duration statedTimeout() {
    return limit.stated().plus(extension.duration());
  }

  /** Returns how long the work may take from its beginning on. */
  private Duration allowed() {
    return limit.left().plus(extension.duration());
  }

  /** Returns what was called. */
  public final OperationSpec spec() {
    return spec;
  }

  @Override
  public final String describe() {
    return spec.describe(sequenceNumber);
  }

  @Override
  public final boolean isOverdue(long nowNanos) {
    return nowNanos - deadlineNanos > 0;
  }

  @Override
  public final long ageNanos(long nowNanos) {
    return nowNanos - deadlineNanos + nanosOf(allowed());
  }

  /** Records the other rank of a message. */
  public final void recordPeer(int groupRank) {
    entry.with(groupRank);
  }

  /** Records how the work is carried out: the algorithm, or the backend that does it. */
  public final void recordAlgorithm(String name) {
    entry.by(name);
  }

  /** Records that the work begins to run on this rank. */
  public final void started() {
    entry.started();
  }

  /** Reports that a part has failed, on any thread, while others may be running. Does not block. */
  public final void partFailed(Throwable cause) {
    monitor.reports().partFailed(this, cause);
  }

  @Override
  public final void complete(Throwable cause) {
    CompletableFuture<List<Tensor>> dependents;
    Throwable outcome = cause;
    String hash = "";
    try {
      // The tensors belong to the operation until it is seen to be completed.
      hash = cause == null && !completed && monitor.recordsHashes() ? TensorHash.of(outputs) : "";
    } catch (RuntimeException | Error e) {
      partFailed(e);
      outcome = monitor.state().failed() ? monitor.state().exceptionFor(describe()) : e;
    }
    synchronized (lock) {
      if (completed) {
        return;
      }
      entry.wrote(hash);
      entry.completed(outcome == null);
      // This comes before the completion is visible: what a waiter begins then must not get the
      // extension.
      monitor.ephemeralTimeout().giveBack(extension);
      failure = outcome;
      completed = true;
      dependents = future;
      lock.notifyAll();
    }
    monitor.end(this);
    try {
      monitor.completionHooks().tell(entry::snapshot);
    } finally {
      if (dependents != null) {
        settle(dependents);
      }
    }
  }

  private void settle(CompletableFuture<List<Tensor>> dependents) {
    if (failure == null) {
      dependents.complete(outputs);
    } else {
      dependents.completeExceptionally(failure);
    }
  }

  @Override
  public final void await() {
    if (!completed) {
      long start = System.nanoTime();
      try {
        help(Long.MAX_VALUE);
        // The watchdog ends every work at its deadline, so this wait needs none of its own.
        waitUntil(start + Long.MAX_VALUE / 2);
      } finally {
        monitor.records().waited(spec.type(), System.nanoTime() - start);
      }
    }
    throwFailure();
  }

  @Override
  public final boolean await(Duration atMost) {
    if (!completed) {
      long nanos = nanosOf(atMost);
      long start = System.nanoTime();
      try {
        help(nanos);
        if (!waitUntil(start + nanos)) {
          return false;
        }
      } finally {
        monitor.records().waited(spec.type(), System.nanoTime() - start);
      }
    }
    throwFailure();
    return true;
  }

  /** Waits until the work has ended, and returns true, or until {@code end}. */
  private boolean waitUntil(long end) {
    if (completed) {
      return true;
    }
    boolean interrupted = false;
    try {
      synchronized (lock) {
        while (!completed) {
          long left = end - System.nanoTime();
          if (left <= 0) {
            return false;
          }
          try {
            lock.wait(TimeUnit.NANOSECONDS.toMillis(left) + 1);
          } catch (InterruptedException e) {
            interrupted = true;
            monitor.reports().interrupted();
          }
        }
        return true;
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void throwFailure() {
    Throwable cause = failure;
    if (cause instanceof CollectiveException collective) {
      if (collective.getSuppressed().length == 0) {
        // The exception was made on the thread that ended the work. This adds the caller's own
        // frames.
        collective.addSuppressed(new AwaitedHere());
      }
      throw collective;
    }
    if (cause != null) {
      throw new CollectiveException(describe() + " failed: " + cause, cause);
    }
  }

  /** Adds the stack of the awaiting thread to the failure that is thrown to it. */
  private static final class AwaitedHere extends RuntimeException {
    AwaitedHere() {
      super("awaited here");
    }
  }

  @Override
  public final boolean isCompleted() {
    return completed;
  }

  @Override
  public final boolean isSuccess() {
    return completed && failure == null;
  }

  @Override
  public final Throwable exception() {
    return failure;
  }

  @Override
  public final CompletableFuture<List<Tensor>> future() {
    CompletableFuture<List<Tensor>> dependents;
    synchronized (lock) {
      if (future == null) {
        future = new CompletableFuture<>();
      }
      dependents = future;
    }
    if (completed) {
      settle(dependents);
    }
    // This is a copy, so that no caller can complete the original.
    return dependents.copy();
  }

  @Override
  public final CompletableFuture<WorkResult> result() {
    return future().handle((tensors, cause) -> WorkResult.of(failure));
  }

  @Override
  public final OpType opType() {
    return spec.type();
  }

  @Override
  public final long sequenceNumber() {
    return sequenceNumber;
  }

  @Override
  public int sourceRank() {
    throw new IllegalStateException("Only a receive has a source rank, and this is " + describe());
  }

  @Override
  public OptionalDouble durationMillis() {
    return completed ? OptionalDouble.of(entry.durationNanos() / 1e6) : OptionalDouble.empty();
  }
}
