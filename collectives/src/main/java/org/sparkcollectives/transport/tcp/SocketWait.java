package org.sparkcollectives.transport.tcp;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.sparkcollectives.transport.Parking;
import org.sparkcollectives.transport.PolledMemory;
import org.sparkcollectives.transport.shm.Doorbell;

/**
 * How the thread that runs a group's collectives sleeps until one of its sockets is ready, another
 * process has changed shared memory and rings, or somebody wakes it.
 *
 * <p>Where it waits for shared memory it sleeps for a bounded time all the same: who changed the
 * memory may have been stopped before it rang. Bells that come again and again too late, or not at
 * all, are not relied on: then it looks as often as without any, until one comes again.
 *
 * <p>Only that thread registers and parks; {@link #unpark} is for all. The selector comes into
 * being when a thread first has to sleep for more than others of its JVM, the bell when it first
 * sleeps for shared memory.
 */
public final class SocketWait implements Parking, AutoCloseable {

  private record Registration(SocketInterest interest, SelectionKey key) {}

  /**
   * How long to sleep where memory must be looked at: an eighth of the time that was waited, so
   * that what was worth waiting for comes late by as much at the most.
   */
  private static final long SHORTEST_NAP_NANOS = TimeUnit.MICROSECONDS.toNanos(20);

  private static final long LONGEST_NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /**
   * So long a wait naps, and asks for no bell: a byte through a pipe wakes a thread within some 50
   * µs, and the naps of a short wait are shorter.
   */
  private static final Duration NAPS_BEFORE_BELL = Duration.ofNanos(800_000);

  /** The same where a bell wakes. */
  private static final Duration SHORTEST_SLEEP = Duration.ofMillis(1);

  private static final Duration LONGEST_SLEEP = Duration.ofMillis(4);

  /** So many waits in a row that no bell has ended end the trust in it. */
  private static final int MOST_MISSED = 4;

  private final List<PolledMemory> polled = new ArrayList<>();
  private final List<PolledMemory> told = new ArrayList<>();
  private final List<SocketInterest> unregistered = new ArrayList<>();
  private final List<Registration> registered = new ArrayList<>();
  private final Doorbell bell = new Doorbell();
  private final long napsNanos;
  private final long shortestSleepNanos;
  private final long longestSleepNanos;
  private long waitingSince = System.nanoTime();
  private SelectionKey bellKey;
  private boolean announced;
  private boolean sleptAllOfIt;
  private int missed;
  private volatile Selector selector;

  /** For one thread. */
  public SocketWait() {
    this(NAPS_BEFORE_BELL, SHORTEST_SLEEP, LONGEST_SLEEP);
  }

  /**
   * With how long a wait naps before it sleeps until a bell rings, and with bounds of such a sleep,
   * which is between them an eighth of the time that was waited.
   */
  public SocketWait(Duration naps, Duration shortestSleep, Duration longestSleep) {
    this.napsNanos = naps.toNanos();
    this.shortestSleepNanos = shortestSleep.toNanos();
    this.longestSleepNanos = longestSleep.toNanos();
  }

  /** What wakes this thread when others change the memory that it waits for, and wakes others. */
  public Doorbell bell() {
    return bell;
  }

  /** From now on {@link #park} ends in time when there may be something to read or to write. */
  public void register(Object way) {
    if (way instanceof SocketInterest interest) {
      unregistered.add(interest);
    } else if (way instanceof PolledMemory memory) {
      polled.add(memory);
    }
  }

  @Override
  public void awake() {
    waitingSince = System.nanoTime();
    sleptAllOfIt = false;
  }

  @Override
  public boolean announce() {
    if (System.nanoTime() - waitingSince < napsNanos) {
      return false;
    }
    boolean news = false;
    boolean silenced = false;
    for (PolledMemory each : polled) {
      if (each.isAwaited() && bell.isOpen()) {
        if (!silenced) {
          silenced = true;
          // Before flags are set: what rings from then on is to be heard.
          missed = bell.silence() ? 0 : missed;
        }
        announced = true;
        if (each.announceSleep()) {
          told.add(each);
          news = true;
        }
      }
    }
    return news;
  }

  @Override
  public void ended() {
    if (announced) {
      announced = false;
      told.forEach(PolledMemory::retractSleep);
      told.clear();
      missed += sleptAllOfIt ? 1 : 0;
    }
  }

  @Override
  public void park(long nanos) {
    if (!announced && awaitsMemory()) {
      // There is no bell, or not yet.
      LockSupport.parkNanos(this, Math.min(nanos, nap(SHORTEST_NAP_NANOS, LONGEST_NAP_NANOS)));
    } else if (!announced) {
      sleep(nanos);
    } else if (!reliesOnBell()) {
      LockSupport.parkNanos(this, Math.min(nanos, nap(SHORTEST_NAP_NANOS, LONGEST_NAP_NANOS)));
    } else {
      long start = System.nanoTime();
      long most = nap(shortestSleepNanos, longestSleepNanos);
      sleep(most);
      // The selector's clock is not as fine.
      sleptAllOfIt = System.nanoTime() - start >= most - most / 8;
    }
  }

  /** Whether a bell is expected to end a sleep. */
  boolean reliesOnBell() {
    return missed < MOST_MISSED;
  }

  private boolean awaitsMemory() {
    for (PolledMemory each : polled) {
      if (each.isAwaited()) {
        return true;
      }
    }
    return false;
  }

  private long nap(long shortest, long longest) {
    long eighth = (System.nanoTime() - waitingSince) / 8;
    return Math.max(shortest, Math.min(longest, eighth));
  }

  private void sleep(long nanos) {
    if (unregistered.isEmpty() && registered.isEmpty() && polled.isEmpty()) {
      // Whoever this thread can wait for is in its JVM.
      LockSupport.parkNanos(this, nanos);
    } else {
      select(nanos);
    }
  }

  private void select(long nanos) {
    try {
      if (selector == null) {
        selector = Selector.open();
      }
      for (SocketInterest each : unregistered) {
        registered.add(new Registration(each, each.socket().register(selector, 0)));
      }
      unregistered.clear();
      for (Registration each : registered) {
        if (each.key.isValid()) {
          each.key.interestOps(each.interest.operations());
        }
      }
      if (announced && bellKey == null && bell.isOpen()) {
        bellKey = bell.channel().register(selector, 0);
      }
      if (bellKey != null && bellKey.isValid()) {
        bellKey.interestOps(announced ? SelectionKey.OP_READ : 0);
      }
      selector.select(Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos)));
      selector.selectedKeys().clear();
    } catch (ClosedChannelException | CancelledKeyException | ClosedSelectorException e) {
      // Whoever reads or writes next says so.
      unregistered.removeIf(each -> !each.socket().isOpen());
    } catch (IOException e) {
      if (selector != null) {
        throw new UncheckedIOException(e);
      }
      // The process has no file descriptor left for a selector. It may have one soon.
      LockSupport.parkNanos(this, Math.min(nanos, LONGEST_NAP_NANOS));
    }
  }

  @Override
  public void unpark(Thread thread) {
    Selector sleeping = selector;
    if (sleeping != null) {
      sleeping.wakeup();
    }
    LockSupport.unpark(thread);
  }

  /** Lets go of the sockets, which are closed for good only then, and of the bell. */
  @Override
  public void close() {
    Selector last = selector;
    if (last != null) {
      try {
        last.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    bell.close();
  }
}
