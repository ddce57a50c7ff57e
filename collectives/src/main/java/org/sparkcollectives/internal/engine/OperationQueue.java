package org.sparkcollectives.internal.engine;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.internal.liveness.RankProgress;
import org.sparkcollectives.internal.work.GroupMonitor;
import org.sparkcollectives.internal.work.PendingWork;
import org.sparkcollectives.spi.OperationSpec;

/**
 * Runs the collectives of one rank in one group in the order of submission, one at a time.
 *
 * <p>A task runs on whichever comes first: the thread that awaits it, which saves two thread
 * switches and makes small operations fast, or a thread of the executor, so that operations proceed
 * when no thread awaits them. Both become the runner under the lock, and run tasks outside it.
 *
 * <p>Waking an executor thread for each task would cost more than a small task takes. Once {@link
 * #PATIENCE} tasks in a row were run by their own awaiting threads, the executor is therefore
 * called only when a second task is queued, or by {@link #runNeglected} when a task was left alone
 * for one period of the watchdog; the first task that the executor gets ends this.
 */
public final class OperationQueue {

  private static final int PATIENCE = 8;
  private static final Logger LOG = LoggerFactory.getLogger(OperationQueue.class);

  private final GroupMonitor monitor;
  private final Executor executor;
  private final Queue<QueuedTask> queue = new ArrayDeque<>();
  private long nextSequenceNumber;
  private long lastCompleted = -1;

  /**
   * Describes the last operation, of which nothing else is kept: its tensors may be large, and the
   * group may stay open for long.
   */
  private OperationSpec lastCalled;

  /** The task that a thread runs, or null. */
  private QueuedTask running;

  private boolean closed;
  private int runByAwaiters;
  private long polls;
  private long pollAtSubmission;

  /**
   * Creates an empty queue.
   *
   * @param monitor of the group whose operations they are
   * @param executor runs the tasks that no thread awaits
   */
  public OperationQueue(GroupMonitor monitor, Executor executor) {
    this.monitor = monitor;
    this.executor = executor;
  }

  /** Returns the monitor of the group whose operations they are. */
  public GroupMonitor monitor() {
    return monitor;
  }

  /**
   * Begins an operation with the next sequence number, and gives it its place in the order.
   *
   * @throws IllegalStateException if the queue or the group is closed
   */
  <T extends PendingWork & QueuedTask> T submit(T task) {
    boolean wake;
    synchronized (this) {
      begin(task);
      queue.add(task);
      pollAtSubmission = polls;
      wake = running == null && (runByAwaiters < PATIENCE || queue.size() > 1);
    }
    if (wake) {
      runAllInBackground();
    }
    return task;
  }

  /**
   * Begins an operation that others run, with the next sequence number. One that is refused gets no
   * number: peers would take it for begun.
   *
   * @throws IllegalStateException if the queue or the group is closed
   */
  public synchronized <W extends PendingWork> W begin(W work) {
    if (closed) {
      throw new IllegalStateException("The group is closed; nothing can be begun in it");
    }
    work.begin(nextSequenceNumber);
    nextSequenceNumber++;
    lastCalled = work.spec();
    return work;
  }

  /** Records that an operation that others run is done. */
  public synchronized void completed(long sequenceNumber) {
    lastCompleted = Math.max(lastCompleted, sequenceNumber);
  }

  /** Returns the number of the last collective that was called, -1 before the first. */
  public synchronized long lastSequenceNumber() {
    return nextSequenceNumber - 1;
  }

  /**
   * Closes the queue: from now on no task begins or runs. Tasks of a failed group may still be in
   * it; they are complete, and a thread that ran them would seem to need the group's paths.
   */
  public synchronized void close() {
    closed = true;
  }

  /** Returns whether a thread runs a task. Once false after {@link #close}, it remains so. */
  public synchronized boolean isRunning() {
    return running != null;
  }

  /**
   * Reports that a part of the running task has failed, while others may be running. Does not
   * block.
   */
  public void partFailed(Throwable cause) {
    QueuedTask task;
    synchronized (this) {
      task = running;
    }
    task.partFailed(cause);
  }

  /** Returns how far this rank has come. */
  public synchronized RankProgress progress() {
    long number = nextSequenceNumber - 1;
    return new RankProgress(
        number, lastCompleted, lastCalled == null ? "" : lastCalled.describe(number));
  }

  /** Runs tasks on this thread until {@code last} has run, if no other thread does. */
  void runUntil(QueuedTask last) {
    boolean more = false;
    while (!last.hasRun()) {
      QueuedTask task = take(true);
      if (task == null) {
        return;
      }
      try {
        task.run();
      } finally {
        more = release(task);
      }
    }
    if (more) {
      runAllInBackground();
    }
  }

  /** Makes the executor run the tasks that no thread has awaited since the last call. */
  public void runNeglected() {
    boolean wake;
    synchronized (this) {
      polls++;
      wake = running == null && !queue.isEmpty() && polls - pollAtSubmission > 1;
    }
    if (wake) {
      runAllInBackground();
    }
  }

  private void runAllInBackground() {
    try {
      executor.execute(this::runAll);
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      // A thread that awaits a task runs it, and the watchdog soon asks again for a thread.
      LOG.debug("no thread for what is queued: {}", e.toString());
    }
  }

  private void runAll() {
    for (QueuedTask task = take(false); task != null; task = take(false)) {
      try {
        task.run();
      } finally {
        release(task);
      }
    }
  }

  /** Ends the turn of a task, and returns whether there are more. */
  private synchronized boolean release(QueuedTask task) {
    running = null;
    if (task.isCompleted()) {
      lastCompleted = Math.max(lastCompleted, task.sequenceNumber());
    }
    return !queue.isEmpty();
  }

  private synchronized QueuedTask take(boolean byAwaiter) {
    if (running != null || closed) {
      return null;
    }
    QueuedTask task = queue.poll();
    if (task != null) {
      running = task;
      runByAwaiters = byAwaiter ? Math.min(PATIENCE, runByAwaiters + 1) : 0;
    }
    return task;
  }
}
