package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Lets any number of threads in, until it is closed. */
final class Entrance {

  private final ReadWriteLock lock = new ReentrantReadWriteLock();
  private volatile boolean closed;

  /** Lets this thread in, which then has to {@link #leave}; false if it is closed. */
  boolean enter() {
    return lock.readLock().tryLock();
  }

  /** The thread is out again. */
  void leave() {
    lock.readLock().unlock();
  }

  /**
   * Closes when nobody is within, for good. By one thread after the other. An interrupt is kept.
   *
   * @return false if somebody is still within when the time is over; then it stays open
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
