package org.sparkcollectives.internal.failure;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread of a JVM that looks at every group again and again: deadlines, task kills, peers that
 * have left.
 *
 * <p>What it looks at must not block. One that throws is logged and looked at again, and disturbs
 * nobody else.
 */
public final class Watchdog implements AutoCloseable {

  /** Something that has to be looked at. */
  public interface Watched {

    /** Looks; must not block. */
    void look();

    /**
     * The watchdog looks no more, because something that it looked at blocks. Called on another
     * thread; must not block.
     *
     * @param what a sentence about it
     */
    default void watchdogStuck(String what) {}
  }

  /** How often to look; the resolution of all deadlines. */
  private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private static final Logger LOG = LoggerFactory.getLogger(Watchdog.class);

  private final List<Watched> watched = new CopyOnWriteArrayList<>();
  private final DaemonThread thread;
  private volatile long rounds;
  private volatile boolean closed;

  /** Starts the thread. */
  public Watchdog() {
    thread = DaemonThread.start("collectives-watchdog", this::run);
  }

  /** From now on looks at {@code one}. */
  public void watch(Watched one) {
    watched.add(one);
  }

  /** No longer looks at {@code one}, but for a look that may be under way. */
  public void forget(Watched one) {
    watched.remove(one);
  }

  /** Changes each time that the thread comes round. */
  long rounds() {
    return rounds;
  }

  /** Where the thread is. */
  ThreadStack stack() {
    return thread.stack();
  }

  /** Tells all that is watched that nobody looks at it any more. */
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
          one.look();
        } catch (RuntimeException | Error e) {
          // An Error too: a class that is missing in one place must not leave all groups alone.
          LOG.error("The watchdog could not look at {}", one, e);
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
