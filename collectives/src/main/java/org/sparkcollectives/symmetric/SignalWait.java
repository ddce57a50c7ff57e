package org.sparkcollectives.symmetric;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.store.Backoff;
import org.sparkcollectives.store.Deadline;

/**
 * Lets a thread wait until another process has changed a flag: it spins for a moment, then sleeps
 * for a little longer each time. It ends when the group fails, a peer is gone, or the group's
 * timeout has passed.
 */
final class SignalWait {

  private static final long SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
  private static final long SHORTEST_PARK_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
  private static final long LONGEST_PARK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long LOOK_AT_PEERS_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final int LOOKS_PER_CLOCK = 16;

  /** Says what is known of the peers that a wait needs. */
  interface Peers {

    /** Returns those whose turn it still is. */
    List<Integer> awaited();

    /** Returns why the wait is in vain, as far as its own rank and these can tell; else null. */
    Gone gone(List<Integer> awaited);
  }

  /**
   * A reason to wait no longer.
   *
   * @param exception what the wait throws
   * @param patience for how long the group may find a better reason, in nanoseconds
   * @param aborts whether the group has to end
   */
  record Gone(RuntimeException exception, long patience, boolean aborts) {}

  private final ProcessGroup group;
  private final boolean spins;

  SignalWait(ProcessGroup group) {
    this.group = group;
    this.spins = Runtime.getRuntime().availableProcessors() >= group.size();
  }

  /**
   * Waits until a condition is true.
   *
   * @param condition which other processes, or threads, make true; it may take what it finds
   * @param atMost how long
   * @param what the wait, for messages
   */
  void until(BooleanSupplier condition, Duration atMost, Supplier<String> what, Peers peers) {
    if (condition.getAsBoolean() || (spins && comesSoon(condition))) {
      return;
    }
    long looked = System.nanoTime();
    Deadline deadline = Deadline.after(atMost);
    Backoff backoff = Backoff.between(SHORTEST_PARK_NANOS, LONGEST_PARK_NANOS);
    long gone = 0;
    while (true) {
      long now = System.nanoTime();
      boolean looks = now - looked >= LOOK_AT_PEERS_NANOS;
      Gone found = looks ? peers.gone(peers.awaited()) : null;
      // After the look: the flag may have come just before the peer went.
      if (condition.getAsBoolean()) {
        return;
      }
      if (group.isFailed()) {
        throw failed(what.get());
      }
      if (looks) {
        gone = found == null ? 0 : gone + now - looked;
        looked = now;
        end(found, gone);
      }
      if (deadline.isOver()) {
        throw overdue(what.get(), atMost, peers.awaited());
      }
      backoff.pause();
      if (Thread.currentThread().isInterrupted()) {
        throw interrupted(what.get());
      }
    }
  }

  /** Ends the wait, if it has been in vain for long enough. */
  private void end(Gone found, long nanos) {
    if (found != null && nanos >= found.patience()) {
      if (found.aborts()) {
        group.abort(found.exception());
      }
      throw found.exception();
    }
  }

  private static boolean comesSoon(BooleanSupplier condition) {
    long start = System.nanoTime();
    for (int i = 1; ; i++) {
      if (condition.getAsBoolean()) {
        return true;
      }
      if (i % LOOKS_PER_CLOCK == 0 && System.nanoTime() - start >= SPIN_NANOS) {
        return false;
      }
      Thread.onSpinWait();
    }
  }

  /** Returns the exception of a wait in the failed group. */
  CollectiveException failed(String what) {
    try {
      group.barrier().await();
    } catch (PeerFailedException e) {
      return new PeerFailedException(what + " failed: " + e.getMessage(), e.failure());
    } catch (GroupAbortedException e) {
      return new GroupAbortedException(what + " failed: " + e.getMessage(), e);
    } catch (CollectiveException | IllegalStateException e) {
      return new CollectiveException(what + " failed: " + e.getMessage(), e);
    }
    throw new IllegalStateException(what + " found the group failed, but it works");
  }

  private CollectiveException overdue(String what, Duration atMost, List<Integer> missing) {
    CollectiveTimeoutException overdue =
        new CollectiveTimeoutException(
            what
                + " was not done within "
                + atMost
                + ": missing are the ranks "
                + missing
                + ". The group is aborted",
            "wait for a signal",
            -1,
            missing);
    group.abort(overdue);
    return overdue;
  }

  private CollectiveException interrupted(String what) {
    CollectiveException interrupted =
        new CollectiveException(
            what + " was interrupted, and the group is aborted", new InterruptedException());
    group.abort(interrupted);
    return interrupted;
  }
}
