package org.sparkcollectives.transport.tcp;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.sparkcollectives.transport.Parking;
import org.sparkcollectives.transport.PolledMemory;

/**
 * How the thread that runs a group's collectives sleeps until one of its sockets is ready, shared
 * memory may have changed, or somebody wakes it.
 *
 * <p>Only that thread registers and parks; {@link #unpark} is for all. The selector comes into
 * being when a thread first has to sleep.
 */
public final class SocketWait implements Parking, AutoCloseable {

  private record Registration(SocketInterest interest, SelectionKey key) {}

  /**
   * How long to sleep where memory must be looked at: an eighth of the time that was waited, so
   * that what was worth waiting for comes late by as much at the most.
   */
  private static final long SHORTEST_NAP_NANOS = TimeUnit.MICROSECONDS.toNanos(20);

  private static final long LONGEST_NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final List<PolledMemory> polled = new ArrayList<>();
  private final List<SocketInterest> unregistered = new ArrayList<>();
  private final List<Registration> registered = new ArrayList<>();
  private long waitingSince = System.nanoTime();
  private volatile Selector selector;

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
  }

  @Override
  public void park(long nanos) {
    for (PolledMemory each : polled) {
      if (each.isAwaited()) {
        long eighth = (System.nanoTime() - waitingSince) / 8;
        long nap = Math.max(SHORTEST_NAP_NANOS, Math.min(LONGEST_NAP_NANOS, eighth));
        LockSupport.parkNanos(this, Math.min(nanos, nap));
        return;
      }
    }
    select(nanos);
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

  /** Lets go of the sockets, which are closed for good only then. */
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
  }
}
