package org.sparkcollectives.internal.failure;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.membership.Membership;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;

/**
 * Tracks which ranks have left the group in good order, and after which collective.
 *
 * <p>A rank that leaves is no failure as long as nobody needs it. That somebody does is known from
 * numbers alone: a collective beyond the last one that the rank called before it left cannot
 * complete. So it makes no difference over which path the ranks would have met. Thread-safe.
 */
public final class LeaveTracker implements AutoCloseable {

  private static final String KEY = "departures";
  private static final int RECORD_BYTES = 12;

  /** Stands for a rank that has not left. */
  private static final long HERE = -2;

  /** Stands for one that has left because the group has failed. */
  private static final long AFTER_FAILURE = -3;

  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration REREAD = Duration.ofMillis(50);

  /** The same for each rank: n ranks that each read n records would keep the store busy. */
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

  /** For each rank the last collective that it called before it left. */
  private final AtomicLongArray last;

  /** The least of {@link #last}: as long as no collective is beyond it, no rank is to be blamed. */
  private final AtomicLong earliest = new AtomicLong(Long.MAX_VALUE);

  /** Creates the tracker of a rank's first group, and begins to listen. */
  LeaveTracker(Store store, Membership members, RankHost host) {
    this(store, members, host, null, new int[0]);
  }

  /**
   * Creates the tracker of a group that was made from another, and begins to listen: who has left
   * that one without having been here will not come any more.
   *
   * @param parent of the other group; null if there is none
   * @param ranksInParent the rank there of each rank here
   */
  LeaveTracker(
      Store store, Membership members, RankHost host, LeaveTracker parent, int[] ranksInParent) {
    this.parent = parent;
    this.ranksInParent = ranksInParent.clone();
    this.store = store;
    this.rank = members.rank();
    this.last = new AtomicLongArray(nobody(members.size()));
    BackgroundCalls background =
        new BackgroundCalls(host.background(), LOG, members.identity().where());
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
    // Where nobody tells of the first who leaves, all is read again and again.
    this.somebodyLeft = !watch.isPushed();
    watch.open();
  }

  private static long[] nobody(int size) {
    long[] nobody = new long[size];
    Arrays.fill(nobody, HERE);
    return nobody;
  }

  /**
   * Says that this rank leaves, after this collective. Blocks until the store has it, or the
   * deadline.
   */
  void leave(long lastSequenceNumber, Deadline deadline) {
    deadline
        .bound(store)
        .append(
            KEY,
            ByteBuffer.allocate(RECORD_BYTES).putInt(rank).putLong(lastSequenceNumber).array());
  }

  /**
   * Says that this rank leaves because the group has failed: whoever waits for it is to look for
   * the failure. Blocks until the store has it, or the deadline.
   */
  void leaveAfterFailure(Deadline deadline) {
    leave(AFTER_FAILURE, deadline);
  }

  /**
   * Returns whether a rank has left because the group has failed. Does not block, see {@link
   * #leftBefore}.
   */
  boolean anyAfterFailure() {
    return anyAfterFailure;
  }

  /**
   * Returns the first rank that has left before the collective with this number, or -1. Does not
   * block; what it knows is refreshed in the background when it is old.
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

  /** Notes that a rank says itself, over a path to it, that it has left after this collective. */
  void left(int peer, long lastSequenceNumber) {
    if (lastSequenceNumber == AFTER_FAILURE) {
      last.compareAndSet(peer, HERE, AFTER_FAILURE);
      anyAfterFailure = true;
      return;
    }
    // What was known stays.
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
      rereading.poll(() -> merge(read()));
    }
  }

  /**
   * Returns who has left by now. The parent is read first: a rank leaves the groups made from a
   * group before that one, so whoever is found to have left the parent has left here too, or never
   * came.
   */
  private long[] read() {
    return read(Deadline.after(STORE_TIMEOUT).bound(store));
  }

  private long[] read(Store store) {
    long[] inParent = parent == null ? null : parent.read();
    long[] known = store.check(List.of(KEY)) ? decode(store.get(KEY)) : nobody(last.length());
    for (int peer = 0; inParent != null && peer < known.length; peer++) {
      if (known[peer] == HERE && inParent[ranksInParent[peer]] != HERE) {
        known[peer] = -1;
      }
    }
    return known;
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

  /** Hears of the first who leaves, for whom no thread could be had. Does not block. */
  void poll() {
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
