package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** The threads of one rank's backend, for what may be stuck in NCCL or in the driver. */
final class DaemonThreads {

  private final String rank;
  private final Set<Thread> running = ConcurrentHashMap.newKeySet();

  /** With the rank's number, which is a part of their names. */
  DaemonThreads(String rank) {
    this.rank = rank;
  }

  Thread start(String job, Runnable body) {
    Thread[] self = new Thread[1];
    Thread thread =
        new Thread(
            () -> {
              try {
                body.run();
              } finally {
                running.remove(self[0]);
              }
            },
            "collectives-" + job + "-" + rank);
    self[0] = thread;
    thread.setDaemon(true);
    running.add(thread);
    thread.start();
    return thread;
  }

  /** Runs something on a thread of its own; false if it is not done in time, and goes on. */
  boolean run(String job, Duration timeout, Runnable body) {
    return join(start(job, body), timeout.toNanos());
  }

  /** Waits until all have ended; false if some have not in time. */
  boolean join(Duration timeout) {
    long end = System.nanoTime() + timeout.toNanos();
    // Again and again, because one may start another.
    while (!running.isEmpty()) {
      for (Thread each : running) {
        if (!join(each, end - System.nanoTime())) {
          return false;
        }
      }
    }
    return true;
  }

  /** An interrupt does not end it, because what is waited for must be over first; it is kept. */
  private static boolean join(Thread thread, long nanos) {
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
