package org.sparkcollectives.engine;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.internal.failure.PendingWork;
import org.sparkcollectives.internal.failure.RankProgress;

/**
 * The ordered lane of one rank's collectives: they run in the order of submission, one at a time.
 *
 * <p>A task runs on whichever comes first: the thread that awaits it, which saves two thread
 * switches and is what small operations live from, or a thread of the executor, so that work
 * proceeds when nobody awaits. Both take the role of the runner under the lock, and run tasks
 * outside it.
 *
 * <p>Waking an executor thread for each task would cost more than a small task takes. Once {@link
 * #PATIENCE} tasks in a row were run by their own awaiting threads, the executor is therefore
 * called only when a second task is queued, or by {@link #runNeglected} when a task was left alone
 * for one period of the watchdog; the first task that the executor gets ends this.
 */
public final class Channel {

  private static final int PATIENCE = 8;
  private static final Logger LOG = LoggerFactory.getLogger(Channel.class);

  private final Executor executor;
  private final Queue<ChannelTask> queue = new ArrayDeque<>();
  private long nextSequenceNumber;
  private long lastCompleted = -1;
  private PendingWork lastSubmitted;

  /** What the last was, once the channel is closed and does not keep it. */
  private String lastCalled = "";

  /** What a thread runs, or null. */
  private ChannelTask running;

  private boolean closed;
  private int runByAwaiters;
  private long looks;
  private long lookAtSubmission;

  /**
   * With nothing in it.
   *
   * @param executor runs what nobody awaits
   */
  public Channel(Executor executor) {
    this.executor = executor;
  }

  /**
   * Gives a task the next sequence number and its place in the order.
   *
   * @throws IllegalStateException if the channel is closed
   */
  <T extends PendingWork & ChannelTask> T submit(LongFunction<T> make) {
    T task;
    boolean wake;
    synchronized (this) {
      requireOpen();
      task = make.apply(nextSequenceNumber);
      task.begin();
      nextSequenceNumber++;
      lastSubmitted = task;
      queue.add(task);
      lookAtSubmission = looks;
      wake = running == null && (runByAwaiters < PATIENCE || queue.size() > 1);
    }
    if (wake) {
      runAllInBackground();
    }
    return task;
  }

  /**
   * Begins an operation that others run, with the next sequence number. One that is refused has
   * none: peers would take it for begun.
   *
   * @throws IllegalStateException if the channel or the group is closed
   */
  public synchronized <W extends PendingWork> W begin(LongFunction<W> make) {
    requireOpen();
    W work = make.apply(nextSequenceNumber);
    work.begin();
    nextSequenceNumber++;
    lastSubmitted = work;
    return work;
  }

  /** An operation that others run is done. */
  public synchronized void completed(long sequenceNumber) {
    lastCompleted = Math.max(lastCompleted, sequenceNumber);
  }

  /** The number of the last collective that was called, -1 before the first. */
  public synchronized long lastSequenceNumber() {
    return nextSequenceNumber - 1;
  }

  /**
   * From now on no task is taken or begun. Those of a failed group may still be in the queue: they
   * are complete, and a thread that came for them would only seem to need the group's paths.
   */
  public synchronized void close() {
    closed = true;
    if (lastSubmitted != null) {
      // Its tensors may be large, and somebody may keep the group.
      lastCalled = lastSubmitted.describe();
      lastSubmitted = null;
    }
  }

  /** Whether a thread runs a task. Once false after {@link #close}, it remains so. */
  public synchronized boolean isRunning() {
    return running != null;
  }

  /** A part of the task that runs has failed, while others may be under way. Does not block. */
  public void partFailed(Throwable cause) {
    ChannelTask task;
    synchronized (this) {
      task = running;
    }
    task.partFailed(cause);
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("The group is closed; nothing can be begun in it");
    }
  }

  /** How far this rank has come. */
  public synchronized RankProgress progress() {
    return new RankProgress(
        nextSequenceNumber - 1,
        lastCompleted,
        lastSubmitted == null ? lastCalled : lastSubmitted.describe());
  }

  /** Runs tasks on this thread until {@code last} has run, if no other thread does. */
  void runUntil(ChannelTask last) {
    boolean more = false;
    while (!last.hasRun()) {
      ChannelTask task = take(true);
      if (task == null) {
        return;
      }
      more = runAndRelease(task);
    }
    if (more) {
      runAllInBackground();
    }
  }

  /** Has the executor run what nobody awaited since the last call. */
  public void runNeglected() {
    boolean wake;
    synchronized (this) {
      looks++;
      wake = running == null && !queue.isEmpty() && looks - lookAtSubmission > 1;
    }
    if (wake) {
      runAllInBackground();
    }
  }

  private void runAllInBackground() {
    try {
      executor.execute(this::runAll);
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      // Whoever awaits a task runs it, and the watchdog soon asks again for a thread.
      LOG.debug("no thread for what is queued: {}", e.toString());
    }
  }

  private void runAll() {
    for (ChannelTask task = take(false); task != null; task = take(false)) {
      runAndRelease(task);
    }
  }

  /** Runs a task, and says whether there are more. */
  private boolean runAndRelease(ChannelTask task) {
    boolean more;
    try {
      task.run();
    } finally {
      more = release(task);
    }
    return more;
  }

  private synchronized boolean release(ChannelTask task) {
    running = null;
    if (task.isCompleted()) {
      lastCompleted = Math.max(lastCompleted, task.sequenceNumber());
    }
    return !queue.isEmpty();
  }

  private synchronized ChannelTask take(boolean byAwaiter) {
    if (running != null || closed) {
      return null;
    }
    ChannelTask task = queue.poll();
    if (task != null) {
      running = task;
      runByAwaiters = byAwaiter ? Math.min(PATIENCE, runByAwaiters + 1) : 0;
    }
    return task;
  }
}
