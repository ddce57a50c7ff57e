package org.sparkcollectives.internal.liveness;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls every group of a JVM periodically, on a thread of its own: deadlines, task kills, peers
 * that have left.
 *
 * <p>What it polls must not block. If a poll throws, that is logged, and the other polls go on.
 */
public final class Watchdog implements AutoCloseable {

  /** A part of a group that the watchdog polls. */
  public interface Watched {

    /** Checks what is due; must not block. */
    void poll();

    /**
     * Notes that the watchdog polls no more, because something that it polled blocks. Called on
     * another thread; must not block.
     *
     * @param what a sentence about it
     */
    default void watchdogStuck(String what) {}
  }

  /** The time between two polls; the resolution of all deadlines. */
  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private static final Logger LOG = LoggerFactory.getLogger(Watchdog.class);

  private final List<Watched> watched = new CopyOnWriteArrayList<>();
  private final DaemonThread thread;
  private volatile long rounds;
  private volatile boolean closed;

  /** Creates a watchdog and starts its thread. */
  public Watchdog() {
    thread = DaemonThread.start("collectives-watchdog", this::run);
  }

  /** Polls {@code one} from now on. */
  public void watch(Watched one) {
    watched.add(one);
  }

  /** Stops polling {@code one}; a poll may still be running. */
  public void forget(Watched one) {
    watched.remove(one);
  }

  /** Returns a number that changes each time that the thread has polled everything. */
  long rounds() {
    return rounds;
  }

  /** Returns the thread's stack. */
  ThreadStack stack() {
    return thread.stack();
  }

  /** Reports to everything that is watched that it is not polled any more. */
  void reportStuck(String what) {
    for (Watched one : watched) {
      try {
        one.watchdogStuck(what);
      } catch (RuntimeException | Error e) {
        LOG.error("{} could not be told that the watchdog is stuck", one, e);
      }
    }
  }

  private void run() {
    for (long round = 1; !closed; round++) {
      LockSupport.parkNanos(this, PERIOD_NANOS);
      rounds = round;
      for (Watched one : watched) {
        try {
          one.poll();
        } catch (RuntimeException | Error e) {
          // An Error is caught too: a class that is missing in one place must not leave all groups
          // unguarded.
          LOG.error("The watchdog could not poll {}", one, e);
        }
      }
    }
  }

  /** Ends the thread; waits for it for a second at the most. */
  @Override
  public void close() {
    closed = true;
    thread.awaitEnd();
  }
}
