package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A gate that admits any number of threads until it is closed. A thread is inside while it submits
 * an operation.
 */
final class SubmissionGate {

  private final ReadWriteLock lock = new ReentrantReadWriteLock();
  private volatile boolean closed;

  /** Admits this thread, which then must {@link #leave}. Returns false if the gate is closed. */
  boolean enter() {
    return lock.readLock().tryLock();
  }

  /** Marks that the thread has left. */
  void leave() {
    lock.readLock().unlock();
  }

  /**
   * Closes the gate for good once no thread is inside. For one thread at a time. An interrupt flag
   * is kept.
   *
   * @return false if a thread is still inside when the time is over; the gate then stays open
   */
  boolean close(Duration atMost) {
    if (closed) {
      return true;
    }
    boolean interrupted = Thread.interrupted();
    try {
      closed = lock.writeLock().tryLock(atMost.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      interrupted = true;
      closed = lock.writeLock().tryLock();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    return closed;
  }
}
