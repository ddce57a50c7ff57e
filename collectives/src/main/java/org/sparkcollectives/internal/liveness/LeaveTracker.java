package org.sparkcollectives.internal.liveness;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;

/**
 * Tracks which ranks have left the group in good order, and after which collective.
 *
 * <p>A rank that leaves is no failure as long as no other rank needs it. Numbers alone decide that:
 * a collective beyond the last one that the rank called before it left cannot complete. So it makes
 * no difference over which path the ranks would have communicated. Thread-safe.
 */
public final class LeaveTracker implements AutoCloseable {

  private static final String KEY = "departures";
  private static final int RECORD_BYTES = 12;

  /** The value for a rank that has not left. */
  private static final long HERE = -2;

  /** The value for a rank that has left because the group has failed. */
  private static final long AFTER_FAILURE = -3;

  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration SHORT_TIMEOUT = Duration.ofMillis(300);
  private static final Duration REREAD = Duration.ofMillis(50);

  /**
   * The time between two reads for each rank: if n ranks each read n records more often, they would
   * keep the store busy.
   */
  private static final Duration REREAD_PER_RANK = Duration.ofNanos(200_000);

  private static final Logger LOG = LoggerFactory.getLogger(LeaveTracker.class);

  private final Store store;
  private final int rank;
  private final StoreWatch watch;
  private final PeriodicCall rereading;
  private final LeaveTracker parent;
  private final int[] ranksInParent;
  private volatile boolean somebodyLeft;
  private volatile boolean anyAfterFailure;

  /** The last collective that each rank called before it left. */
  private final AtomicLongArray last;

  /** The least of {@link #last}: a collective up to it waits for no rank that has left. */
  private final AtomicLong earliest = new AtomicLong(Long.MAX_VALUE);

  /** Creates the tracker of a rank's first group, and begins to listen. */
  public LeaveTracker(Store store, Membership members, RankHost host) {
    this(store, members, host, null, new int[0]);
  }

  /**
   * Creates the tracker of a group that was made from another, and begins to listen. A rank that
   * left the other group without having joined this one will not come any more.
   *
   * @param parent of the other group; null if there is none
   * @param ranksInParent the rank there of each rank here
   */
  public LeaveTracker(
      Store store, Membership members, RankHost host, LeaveTracker parent, int[] ranksInParent) {
    this.parent = parent;
    this.ranksInParent = ranksInParent.clone();
    this.store = store;
    this.rank = members.rank();
    this.last = new AtomicLongArray(nobody(members.size()));
    BackgroundCalls background = BackgroundCalls.of(host.background(), LOG, members.identity());
    Duration perRank = REREAD_PER_RANK.multipliedBy(members.size());
    Duration period = perRank.compareTo(REREAD) > 0 ? perRank : REREAD;
    this.rereading = new PeriodicCall(background, period, host.time());
    this.watch =
        new StoreWatch(
            store,
            StoreWatch.Keys.one(KEY),
            period,
            background,
            host.time(),
            (number, bytes) -> {
              merge(decode(bytes));
              somebodyLeft = true;
            });
    // If the store does not push the first leave, the records are read repeatedly.
    this.somebodyLeft = !watch.isPushed();
    watch.open();
  }

  private static long[] nobody(int size) {
    long[] nobody = new long[size];
    Arrays.fill(nobody, HERE);
    return nobody;
  }

  /**
   * Publishes that this rank leaves, after this collective. Blocks until the store has it, or the
   * deadline.
   */
  public void leave(long lastSequenceNumber, Deadline deadline) {
    deadline
        .bound(store)
        .append(
            KEY,
            ByteBuffer.allocate(RECORD_BYTES).putInt(rank).putLong(lastSequenceNumber).array());
  }

  /**
   * Publishes that this rank leaves because the group has failed, so that the ranks that wait for
   * it look for the failure. Blocks until the store has it, or the deadline.
   */
  public void leaveAfterFailure(Deadline deadline) {
    leave(AFTER_FAILURE, deadline);
  }

  /**
   * Returns whether a rank has left because the group has failed. Does not block, see {@link
   * #leftBefore}.
   */
  public boolean anyAfterFailure() {
    return anyAfterFailure;
  }

  /**
   * Returns whether a rank has left because the group has failed. Blocks for the store's answer, at
   * the most for {@link #SHORT_TIMEOUT} and the time that a store is given to answer at all.
   */
  public boolean hasLeftAfterFailure(int peer) {
    if (last.get(peer) != AFTER_FAILURE) {
      merge(readOwn(Deadline.after(SHORT_TIMEOUT)));
    }
    return last.get(peer) == AFTER_FAILURE;
  }

  /**
   * Returns the first rank that has left before the collective with this number, or -1. Does not
   * block; old records are refreshed in the background.
   */
  public int leftBefore(long sequenceNumber) {
    refresh();
    if (earliest.get() >= sequenceNumber) {
      return -1;
    }
    for (int peer = 0; peer < last.length(); peer++) {
      long left = last.get(peer);
      if (left != HERE && left != AFTER_FAILURE && left < sequenceNumber) {
        return peer;
      }
    }
    return -1;
  }

  /** Returns whether a rank has left in good order. Does not block, see {@link #leftBefore}. */
  public boolean hasLeft(int peer) {
    refresh();
    long left = last.get(peer);
    return left != HERE && left != AFTER_FAILURE;
  }

  /**
   * Notes that a rank has reported, over a connection to it, that it has left after this
   * collective.
   */
  public void left(int peer, long lastSequenceNumber) {
    if (lastSequenceNumber == AFTER_FAILURE) {
      last.compareAndSet(peer, HERE, AFTER_FAILURE);
      anyAfterFailure = true;
      return;
    }
    // A record that is known already stays.
    if (lastSequenceNumber != HERE && last.compareAndSet(peer, HERE, lastSequenceNumber)) {
      earliest.accumulateAndGet(lastSequenceNumber, Math::min);
    }
  }

  private void merge(long[] found) {
    for (int peer = 0; peer < found.length; peer++) {
      left(peer, found[peer]);
    }
  }

  private boolean anybodyLeft() {
    return somebodyLeft || (parent != null && parent.anybodyLeft());
  }

  private void refresh() {
    if (anybodyLeft()) {
      rereading.poll(() -> merge(read(Deadline.after(STORE_TIMEOUT))));
    }
  }

  /**
   * Returns which ranks have left by now. The parent's records are read first: a rank leaves the
   * groups made from a group before that one, so a rank that has left the parent has left here too,
   * or never came.
   */
  private long[] read(Deadline deadline) {
    long[] inParent = parent == null ? null : parent.read(deadline);
    long[] known = readOwn(deadline);
    for (int peer = 0; inParent != null && peer < known.length; peer++) {
      if (known[peer] == HERE && inParent[ranksInParent[peer]] != HERE) {
        known[peer] = -1;
      }
    }
    return known;
  }

  /** Returns which ranks have left this group by now. */
  private long[] readOwn(Deadline deadline) {
    Store bound = deadline.bound(store);
    return bound.check(List.of(KEY)) ? decode(bound.get(KEY)) : nobody(last.length());
  }

  private long[] decode(byte[] bytes) {
    long[] known = nobody(last.length());
    ByteBuffer in = ByteBuffer.wrap(bytes);
    while (in.remaining() >= RECORD_BYTES) {
      int peer = in.getInt();
      long lastSequenceNumber = in.getLong();
      if (peer >= 0 && peer < known.length && lastSequenceNumber >= AFTER_FAILURE) {
        known[peer] = lastSequenceNumber;
      } else {
        LOG.warn(
            "rank {} ignores that rank {} of {} has left after #{}: there is no such rank or"
                + " collective",
            rank,
            peer,
            known.length,
            lastSequenceNumber);
      }
    }
    return known;
  }

  /** Delivers the first leave, if no thread was available for it. Does not block. */
  public void poll() {
    if (!somebodyLeft) {
      watch.poll();
    }
  }

  /** Stops listening. */
  @Override
  public void close() {
    watch.close();
  }
}
