package org.sparkcollectives.internal.failure;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.WatchableStore;

/**
 * Which ranks have left the group in good order, and after which collective.
 *
 * <p>A rank that leaves is no failure as long as nobody needs it. That somebody does is known from
 * numbers alone: a collective beyond the last one that the departed rank called cannot complete. So
 * it makes no difference over which path the ranks would have met.
 */
public final class Departures implements AutoCloseable {

  private static final String KEY = "departures";
  private static final int RECORD_BYTES = 12;

  /** What stands for a rank that has not left. */
  private static final long HERE = -2;

  /** What stands for one that has left because the group has failed. */
  private static final long AFTER_FAILURE = -3;

  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(2);
  private static final long REREAD_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** The same for each rank: n ranks that each read n records would keep the store busy. */
  private static final long REREAD_NANOS_PER_RANK = TimeUnit.MICROSECONDS.toNanos(200);

  private static final Logger LOG = LoggerFactory.getLogger(Departures.class);

  private final Store store;
  private final int rank;
  private final Executor executor;
  private final CompletableFuture<byte[]> watch;
  private final Departures parent;
  private final int[] ranksInParent;
  private final AtomicBoolean reading = new AtomicBoolean();
  private volatile boolean somebodyLeft;
  private volatile boolean anyAfterFailure;
  private volatile long readNanos;

  /** For each rank the last collective that it called before it left. */
  private final AtomicLongArray last;

  /** The least of {@link #last}: as long as no collective is beyond it, no rank is to be blamed. */
  private final AtomicLong earliest = new AtomicLong(Long.MAX_VALUE);

  /** Begins to listen for the first departure, where the store can be watched. */
  public Departures(Store store, int rank, int size, Executor executor) {
    this(store, rank, size, executor, null, new int[0]);
  }

  /**
   * Of a group that was made from another: who has left that one without having been here will not
   * come any more.
   *
   * @param parent of the other group; null if there is none
   * @param ranksInParent the rank there of each rank here
   */
  public Departures(
      Store store, int rank, int size, Executor executor, Departures parent, int[] ranksInParent) {
    this.parent = parent;
    this.ranksInParent = ranksInParent.clone();
    this.store = store;
    this.rank = rank;
    this.executor = executor;
    this.last = new AtomicLongArray(nobody(size));
    if (store instanceof WatchableStore watchable) {
      watch = watchable.watch(KEY);
      watch.thenAccept(
          bytes -> {
            merge(decode(bytes));
            somebodyLeft = true;
          });
    } else {
      watch = null;
      somebodyLeft = true;
    }
  }

  private static long[] nobody(int size) {
    long[] nobody = new long[size];
    Arrays.fill(nobody, HERE);
    return nobody;
  }

  /** Says that this rank leaves. Blocks until the store has it, or the deadline. */
  public void announce(long lastSequenceNumber, Deadline deadline) {
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
  public void announceAfterFailure(Deadline deadline) {
    announce(AFTER_FAILURE, deadline);
  }

  /**
   * Whether a rank has left because the group has failed. Does not block, see {@link #leftBefore}.
   */
  public boolean anyAfterFailure() {
    return anyAfterFailure;
  }

  /**
   * The first rank that has left before the collective with this number, or -1. Does not block;
   * what it knows is refreshed in the background when it is old.
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

  /** Whether a rank has left in good order. Does not block, see {@link #leftBefore}. */
  public boolean hasLeft(int peer) {
    refresh();
    long left = last.get(peer);
    return left != HERE && left != AFTER_FAILURE;
  }

  /** A rank says itself, over a path to it, that it has left, and after which collective. */
  public void left(int peer, long lastSequenceNumber) {
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
    if (!anybodyLeft()
        || System.nanoTime() - readNanos
            < Math.max(REREAD_NANOS, REREAD_NANOS_PER_RANK * last.length())
        || !reading.compareAndSet(false, true)) {
      return;
    }
    try {
      executor.execute(
          () -> {
            try {
              merge(read());
            } catch (StoreException | IllegalStateException e) {
              LOG.debug("rank {} could not read who has left: {}", rank, e.toString());
            } finally {
              readNanos = System.nanoTime();
              reading.set(false);
            }
          });
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      // No thread could be had: at the next look there may be one.
      reading.set(false);
    }
  }

  /**
   * Who has left by now. The parent is read first: a rank leaves the groups made from a group
   * before that one, so whoever is found to have left the parent has left here too, or never came.
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

  /** Stops listening. */
  @Override
  public void close() {
    if (watch != null) {
      watch.cancel(false);
    }
  }
}
