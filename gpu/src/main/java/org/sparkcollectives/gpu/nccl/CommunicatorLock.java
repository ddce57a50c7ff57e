package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.sparkcollectives.CollectiveException;

/** A lock on a communicator, which one thread at a time may use. */
final class CommunicatorLock {

  /** The interval at which a thread that waits for the lock checks its deadline. */
  private static final long CHECK_MILLIS = 100;

  private final String name;
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * Creates a lock that nobody holds.
   *
   * @param name of the communicator, for errors
   */
  CommunicatorLock(String name) {
    this.name = name;
  }

  /** Takes the lock if nobody holds it. */
  boolean tryLock() {
    return lock.tryLock();
  }

  /**
   * Waits for the lock.
   *
   * @throws CollectiveException if it does not become free in time, or is not wanted any more; the
   *     caller then does not hold it
   */
  void lock(Deadline deadline) {
    try {
      while (!lock.tryLock(CHECK_MILLIS, TimeUnit.MILLISECONDS)) {
        deadline.check("the lock of " + name);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CollectiveException("Interrupted while " + name + " was in use", e);
    }
  }

  /** Releases the lock. */
  void unlock() {
    lock.unlock();
  }

  /**
   * Waits until nobody holds the lock. Returns false if that takes longer. An interrupt flag is
   * kept.
   */
  boolean awaitUnlocked(Duration atMost) {
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
}
