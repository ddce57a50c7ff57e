package org.sparkcollectives.internal.transport.tcp;

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
import org.sparkcollectives.internal.transport.Parking;
import org.sparkcollectives.internal.transport.PolledMemory;
import org.sparkcollectives.internal.transport.shm.Doorbell;

/**
 * Lets the thread that runs a group's collectives sleep until one of its sockets is ready, another
 * process has changed shared memory and rings, or somebody wakes it.
 *
 * <p>Where the thread waits for shared memory its sleep is bounded all the same: the process that
 * changed the memory may have been stopped before it rang. Bells that come too late or not at all,
 * several times in a row, are not relied on: the thread then polls as often as without any, until
 * one comes again.
 *
 * <p>Only that thread registers and parks; {@link #unpark} is for all. The selector comes into
 * being when a thread first has to sleep for more than others of its JVM, the bell when it first
 * sleeps for shared memory.
 */
public final class SocketWait implements Parking, AutoCloseable {

  private record Registration(SocketInterest interest, SelectionKey key) {}

  /**
   * The bounds of a backoff between two polls of memory. It is an eighth of the time waited so far,
   * so that a wait becomes longer by an eighth at the most.
   */
  private static final long SHORTEST_BACKOFF_NANOS = TimeUnit.MICROSECONDS.toNanos(20);

  private static final long LONGEST_BACKOFF_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /**
   * The time for which a wait only backs off, and asks for no bell: a byte through a pipe wakes a
   * thread within some 50 µs, and the backoff of a short wait is shorter.
   */
  private static final Duration BACKOFF_BEFORE_BELL = Duration.ofNanos(800_000);

  /** The bounds of a sleep that a bell ends. */
  private static final Duration SHORTEST_SLEEP = Duration.ofMillis(1);

  private static final Duration LONGEST_SLEEP = Duration.ofMillis(4);

  /** The number of waits in a row without a bell after which the bell is not relied on. */
  private static final int MOST_MISSED = 4;

  private final List<PolledMemory> polled = new ArrayList<>();
  private final List<PolledMemory> told = new ArrayList<>();
  private final List<SocketInterest> unregistered = new ArrayList<>();
  private final List<Registration> registered = new ArrayList<>();
  private final Doorbell bell;
  private final long backoffNanos;
  private final long shortestSleepNanos;
  private final long longestSleepNanos;
  private long waitingSince = System.nanoTime();
  private SelectionKey bellKey;
  private boolean announced;
  private boolean sleptAllOfIt;
  private int missed;
  private volatile Selector selector;

  /**
   * Creates a place for one thread to wait at.
   *
   * @param bell wakes that thread; closed with this
   */
  public SocketWait(Doorbell bell) {
    this(bell, BACKOFF_BEFORE_BELL, SHORTEST_SLEEP, LONGEST_SLEEP);
  }

  /**
   * Creates a place to wait at for a thread that does not poll, because it has no processor of its
   * own: it sleeps at once until a bell rings.
   *
   * @param bell wakes that thread; closed with this
   */
  public static SocketWait withoutPolling(Doorbell bell) {
    return new SocketWait(bell, Duration.ZERO, SHORTEST_SLEEP, LONGEST_SLEEP);
  }

  /**
   * Creates a place for one thread to wait at.
   *
   * @param bell wakes that thread; closed with this
   * @param backoff how long a wait only backs off before it sleeps until a bell rings
   * @param shortestSleep the least of such a sleep, which is an eighth of the time waited so far
   * @param longestSleep the most
   */
  public SocketWait(
      Doorbell bell, Duration backoff, Duration shortestSleep, Duration longestSleep) {
    this.bell = bell;
    this.backoffNanos = backoff.toNanos();
    this.shortestSleepNanos = shortestSleep.toNanos();
    this.longestSleepNanos = longestSleep.toNanos();
  }

  /** Returns the bell that wakes this thread when others change memory, and wakes others. */
  public Doorbell bell() {
    return bell;
  }

  /** Makes {@link #park} end in time when there may be something to read or to write. */
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
    if (System.nanoTime() - waitingSince < backoffNanos) {
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
    // Without an announcement there is no bell, or not yet.
    if (announced ? !reliesOnBell() : awaitsMemory()) {
      long most = backoff(SHORTEST_BACKOFF_NANOS, LONGEST_BACKOFF_NANOS);
      LockSupport.parkNanos(this, Math.min(nanos, most));
    } else if (!announced) {
      sleep(nanos);
    } else {
      long start = System.nanoTime();
      long most = backoff(shortestSleepNanos, longestSleepNanos);
      sleep(most);
      // The selector's clock is not as fine.
      sleptAllOfIt = System.nanoTime() - start >= most - most / 8;
    }
  }

  /** Returns whether a bell is expected to end a sleep. */
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

  private long backoff(long shortest, long longest) {
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
      LockSupport.parkNanos(this, Math.min(nanos, LONGEST_BACKOFF_NANOS));
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

  /** Releases the sockets, which are closed for good only then, and the bell. */
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
