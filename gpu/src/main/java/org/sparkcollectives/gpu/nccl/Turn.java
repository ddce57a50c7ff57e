package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.sparkcollectives.CollectiveException;

/** Who may use something that is for one thread at a time. */
final class Turn {

  private static final long PATIENCE_MILLIS = 100;

  private final String name;
  private final ReentrantLock lock = new ReentrantLock();

  /** To use what errors call by this name. */
  Turn(String name) {
    this.name = name;
  }

  /** Takes the turn if nobody has it. */
  boolean tryTake() {
    return lock.tryLock();
  }

  /**
   * Waits for the turn.
   *
   * @throws CollectiveException if it does not come in time, or is not wanted any more; then the
   *     caller does not have it
   */
  void take(Deadline deadline) {
    try {
      while (!lock.tryLock(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
        deadline.check("the turn to use " + name);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CollectiveException("Interrupted while " + name + " was in use", e);
    }
  }

  /** Lets the next have it. */
  void giveUp() {
    lock.unlock();
  }

  /** Waits until nobody has the turn; false if it is not so in time. An interrupt is kept. */
  boolean awaitFree(Duration atMost) {
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
