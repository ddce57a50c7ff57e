package org.sparkcollectives.internal.failure;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.WatchableStore;

/**
 * Notices a JVM that has stopped without dying, or that is cut off without a broken connection: it
 * gives no sign of life any more.
 *
 * <p>The JVMs of a group form a ring. Each writes a growing number to the store once in an
 * interval, and reads that of the one before it: two requests, whatever the size of the group. Who
 * sees no change for long enough says so in the store, where all JVMs hear of it, and goes on to
 * observe the one before the silent one. A JVM that leaves in good order writes a farewell.
 *
 * <p>Only what an observer has really seen counts, see {@link SilenceClock}: neither an observer
 * that was itself stopped nor a store that has paused makes others look silent. While the store is
 * silent nobody is accused; that is told apart, see {@link Listener#storeSilent}.
 *
 * <p>The signs come from a thread of the library that the watchdog wakes, so a rank that is busy in
 * its own code gives them, and a JVM whose watchdog is stuck does not.
 */
public final class Heartbeat implements AutoCloseable {

  /** Who is told. */
  public interface Listener {

    /** A JVM has given no sign of life for so long; it may be this one, as others have seen it. */
    void silent(int node, Duration silence);

    /**
     * The store has answered nothing for so long, longer than the timeout. Called again and again
     * while that is so; must not block.
     */
    void storeSilent(Duration silence);
  }

  private static final String BEAT = "heartbeat/beat/";
  private static final String SILENT = "heartbeat/silent/";
  private static final int SILENT_BYTES = Integer.BYTES + Long.BYTES;
  private static final byte[] ABSENT = {};
  private static final long FAREWELL = -1;
  private static final long NONE = 0;

  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(2);

  /** The watchdog looks a hundred times in this time: longer means that it was stopped itself. */
  private static final Duration LONGEST_LOOK = Duration.ofSeconds(1);

  private static final Logger LOG = LoggerFactory.getLogger(Heartbeat.class);

  private final Store store;
  private final int self;
  private final int nodes;
  private final HeartbeatOptions options;
  private final HeartbeatTurn turn;
  private final Listener listener;
  private final Executor executor;
  private final LongSupplier clock;
  private final SilenceClock ofStore = new SilenceClock(LONGEST_LOOK);
  private final AtomicBoolean underWay = new AtomicBoolean();
  private final Object round = new Object();
  private long begunNanos;

  /** Guarded by {@link #round}. */
  private final BitSet known = new BitSet();

  private SilenceClock ofObserved;
  private int observed;
  private boolean observedHasBeaten;

  /** What others have said, for which no thread was there yet. */
  private final Queue<Runnable> unheard = new ConcurrentLinkedQueue<>();

  private volatile long nextSilent = 1;
  private volatile CompletableFuture<byte[]> watch;
  private volatile boolean storeLost;
  private volatile boolean storeStill;
  private volatile boolean closed;

  /**
   * Of one rank.
   *
   * @param store the group's, whose keys all its ranks see
   * @param self the number of this JVM in the ring
   * @param nodes the number of JVMs, two or more
   * @param options the same on all ranks
   * @param turn the one of this JVM
   * @param executor runs what blocks
   * @param clock nanoseconds
   */
  public Heartbeat(
      Store store,
      int self,
      int nodes,
      HeartbeatOptions options,
      HeartbeatTurn turn,
      Listener listener,
      Executor executor,
      LongSupplier clock) {
    this.store = store.withTimeout(STORE_TIMEOUT);
    this.self = self;
    this.nodes = nodes;
    this.options = options;
    this.turn = turn;
    this.listener = listener;
    this.executor = executor;
    this.clock = clock;
    this.begunNanos = clock.getAsLong() - options.interval().toNanos();
    observe(before(self));
    turn.join(this);
    if (store instanceof WatchableStore watchable) {
      listen(watchable);
    }
  }

  /** Whether the store has answered nothing for longer than the timeout. */
  public boolean isStoreSilent() {
    return storeLost || storeStill;
  }

  /** Does what is due, in the background. Called by the watchdog only; does not block. */
  public void look() {
    if (closed || storeLost) {
      return;
    }
    hearAll();
    long now = clock.getAsLong();
    Duration unanswered = ofStore.observe(turn.answers(), now);
    storeStill = unanswered.compareTo(options.timeout()) >= 0;
    if (storeStill) {
      listener.storeSilent(unanswered);
    }
    if (now - begunNanos >= options.interval().toNanos() && underWay.compareAndSet(false, true)) {
      begunNanos = now;
      inBackground(this::once, () -> underWay.set(false));
    }
  }

  private void once() {
    synchronized (round) {
      if (closed) {
        return;
      }
      if (turn.isTurnOf(this)) {
        store.set(BEAT + self, number(turn.nextBeat()));
        turn.answered();
        lookAtObserved();
      }
      if (watch == null) {
        poll();
      }
    }
  }

  private void lookAtObserved() {
    if (observed == self) {
      return;
    }
    long beat = beatOfObserved();
    if (beat == FAREWELL) {
      observe(before(observed));
      return;
    }
    Duration silence = ofObserved.observe(beat, clock.getAsLong());
    if (silence.compareTo(options.patience()) >= 0) {
      int silent = observed;
      say(silent, silence);
      // Unless it was heard of meanwhile.
      if (observed == silent) {
        observe(before(silent));
      }
    }
  }

  private long beatOfObserved() {
    String key = BEAT + observed;
    if (!observedHasBeaten) {
      observedHasBeaten = store.check(List.of(key));
    }
    byte[] beat = observedHasBeaten ? store.get(key) : ABSENT;
    // What is no number is no sign of life.
    return beat.length == Long.BYTES ? ByteBuffer.wrap(beat).getLong() : NONE;
  }

  private void observe(int node) {
    observed = node;
    observedHasBeaten = false;
    ofObserved = new SilenceClock(options.longestStep());
  }

  /** The one before a JVM in the ring, without those that are known to be silent. */
  private int before(int node) {
    int before = node;
    do {
      before = (before + nodes - 1) % nodes;
    } while (before != self && known.get(before));
    return before;
  }

  /** Writes that a JVM is silent under the next free number, unless another has. */
  private void say(int node, Duration silence) {
    byte[] mine =
        ByteBuffer.allocate(SILENT_BYTES).putInt(node).putLong(silence.toMillis()).array();
    known.set(node);
    long at = nextSilent;
    while (nodeOf(store.compareSet(SILENT + at, ABSENT, mine)) != node) {
      at++;
    }
  }

  /** Which JVM was said to be silent; -1 if that is no JVM of the ring. */
  private int nodeOf(byte[] silent) {
    int node = silent.length == SILENT_BYTES ? ByteBuffer.wrap(silent).getInt() : -1;
    return node < nodes ? node : -1;
  }

  private static byte[] number(long value) {
    return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
  }

  private void listen(WatchableStore watchable) {
    CompletableFuture<byte[]> next = watchable.watch(SILENT + nextSilent);
    watch = next;
    next.whenComplete(
        (silent, cause) -> {
          if (cause == null) {
            unheard.add(
                () -> {
                  heard(silent);
                  if (!closed) {
                    listen(watchable);
                  }
                });
            hearAll();
          } else if (!next.isCancelled()) {
            // Whoever can still reach the store finds this JVM silent, unless a rank of it can.
            storeLost = true;
            turn.leave(this);
          }
        });
    if (closed) {
      next.cancel(false);
    }
  }

  /** Has others' news heard; what no thread could be had for stays for the next look. */
  private void hearAll() {
    for (Runnable news = unheard.poll(); news != null; news = unheard.poll()) {
      if (!inBackground(news, () -> {})) {
        unheard.add(news);
        return;
      }
    }
  }

  private void poll() {
    String key = SILENT + nextSilent;
    if (store.check(List.of(key))) {
      heard(store.get(key));
    }
  }

  private void heard(byte[] silent) {
    long number = nextSilent;
    nextSilent = number + 1;
    int node = nodeOf(silent);
    if (node < 0) {
      LOG.warn(
          "JVM {} of {} ignores {} bytes under {}{}, which name no silent JVM",
          self,
          nodes,
          silent.length,
          SILENT,
          number);
      return;
    }
    synchronized (round) {
      known.set(node);
      if (node == observed) {
        observe(before(observed));
      }
    }
    listener.silent(node, Duration.ofMillis(ByteBuffer.wrap(silent).getLong(Integer.BYTES)));
  }

  /**
   * Begins an action on another thread.
   *
   * @param afterwards run in any case
   * @return false if no thread could be had: then it is for the caller to try again later
   */
  private boolean inBackground(Runnable action, Runnable afterwards) {
    try {
      executor.execute(
          () -> {
            try {
              action.run();
            } catch (StoreException | IllegalStateException e) {
              LOG.debug("JVM {} of {} could not reach its store: {}", self, nodes, e.toString());
            } catch (RuntimeException | Error e) {
              LOG.warn("JVM {} of {} could not give or take a sign of life", self, nodes, e);
            } finally {
              afterwards.run();
            }
          });
      return true;
    } catch (RejectedExecutionException e) {
      LOG.debug("JVM {} of {} is closing: nobody is left to tell", self, nodes);
    } catch (RuntimeException | Error e) {
      // Such as "unable to create native thread", which may be possible again in a moment.
      LOG.warn("JVM {} of {} found no thread for its signs of life", self, nodes, e);
    }
    afterwards.run();
    return false;
  }

  /**
   * Stops; the last rank of the JVM says farewell. Blocks for a store call or two, which a silent
   * store does not answer for some seconds.
   */
  @Override
  public void close() {
    closed = true;
    CompletableFuture<byte[]> listening = watch;
    if (listening != null) {
      listening.cancel(false);
    }
    synchronized (round) {
      if (turn.leave(this) && !storeLost && !storeStill) {
        try {
          store.set(BEAT + self, number(FAREWELL));
        } catch (StoreException | IllegalStateException e) {
          LOG.debug("JVM {} of {} could not say farewell: {}", self, nodes, e.toString());
        }
      }
    }
  }
}
