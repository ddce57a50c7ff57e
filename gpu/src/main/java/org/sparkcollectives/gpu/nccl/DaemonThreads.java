package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.net.LibraryThreads;

/** The threads of one rank's backend for calls that may hang in NCCL or in the driver. */
final class DaemonThreads {

  private final String rank;
  private final Set<Thread> running = ConcurrentHashMap.newKeySet();

  /**
   * Creates an empty set of threads.
   *
   * @param rank the rank's number, which is a part of their names
   */
  DaemonThreads(String rank) {
    this.rank = rank;
  }

  /**
   * Starts a thread, and logs what it throws.
   *
   * @throws OutOfMemoryError if no thread can be created; then nothing is left of it
   */
  Thread start(String job, Runnable body) {
    Thread thread = make(job, () -> running.remove(Thread.currentThread()), body);
    running.add(thread);
    boolean started = false;
    try {
      thread.start();
      started = true;
    } finally {
      if (!started) {
        running.remove(thread);
      }
    }
    return thread;
  }

  /** Starts a thread that nobody waits for: it may wait for the others, see {@link #join}. */
  void startLast(String job, Runnable body) {
    make(job, () -> {}, body).start();
  }

  private Thread make(String job, Runnable end, Runnable body) {
    return LibraryThreads.named("collectives-" + job + "-" + rank)
        .newThread(
            () -> {
              try {
                body.run();
              } finally {
                end.run();
              }
            });
  }

  /**
   * Runs {@code body} on a new thread. Returns false if it is not done in time; it then continues.
   */
  boolean run(String job, Duration timeout, Runnable body) {
    return join(start(job, body), timeout.toNanos());
  }

  /** Waits until all threads have ended. Returns false if some have not in time. */
  boolean join(Duration timeout) {
    long end = System.nanoTime() + timeout.toNanos();
    // Repeats, because one thread may start another.
    while (!running.isEmpty()) {
      for (Thread each : running) {
        if (!join(each, end - System.nanoTime())) {
          return false;
        }
      }
    }
    return true;
  }

  /**
   * Waits for a thread. An interrupt does not end the wait, because the thread must end first; the
   * interrupt flag is kept.
   */
  static boolean join(Thread thread, long nanos) {
    long end = System.nanoTime() + nanos;
    boolean interrupted = false;
    try {
      while (thread.isAlive()) {
        long left = end - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        try {
          TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(left, 1_000_000));
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      return true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
