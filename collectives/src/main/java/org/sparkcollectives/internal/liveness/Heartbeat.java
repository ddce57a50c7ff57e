package org.sparkcollectives.internal.liveness;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;

/**
 * Notices a JVM that has stopped without dying, or that is cut off without a broken connection: it
 * sends no heartbeat any more.
 *
 * <p>The JVMs of a group form a ring. Each writes a growing number to the store once in an
 * interval, and reads that of the one before it: two requests, whatever the size of the group. Who
 * sees no change for long enough says so in the store, where all JVMs hear of it, and goes on to
 * observe the one before the unresponsive one. A JVM that leaves in good order writes a farewell.
 *
 * <p>Only what an observer has really seen counts, see {@link HeartbeatAge}: neither an observer
 * that was itself stopped nor a store that has paused makes others look unresponsive. While the
 * store is unresponsive nobody is accused; that is told apart, see {@link
 * Listener#storeUnresponsive}.
 *
 * <p>The heartbeats come from a thread of the library that the watchdog wakes, so a rank that is
 * busy in its own code sends them, and a JVM whose watchdog is stuck does not.
 */
final class Heartbeat implements AutoCloseable {

  /** Is called with the JVMs that are unresponsive. */
  interface Listener {

    /**
     * Notes that a JVM has sent no heartbeat for so long. It may be this one, as others have seen
     * it.
     */
    void unresponsive(int node, Duration age);

    /**
     * Notes that the store has not responded for so long, longer than the timeout. Called
     * repeatedly while that is so; must not block.
     */
    void storeUnresponsive(Duration age);
  }

  /**
   * Places a rank among the JVMs of its group.
   *
   * @param self the number of its JVM in the ring
   * @param nodes the number of JVMs, two or more
   * @param election that of its JVM
   */
  record Position(int self, int nodes, HeartbeatElection election) {}

  private static final String BEAT = "heartbeat/beat/";
  private static final String UNRESPONSIVE = "heartbeat/unresponsive/";
  private static final int RECORD_BYTES = Integer.BYTES + Long.BYTES;
  private static final byte[] ABSENT = {};
  private static final long FAREWELL = -1;
  private static final long NONE = 0;

  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(2);

  /**
   * The longest pause between two polls that counts. The watchdog polls a hundred times in it:
   * after a longer one it was stopped itself.
   */
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

  private static final Logger LOG = LoggerFactory.getLogger(Heartbeat.class);

  private final Store store;
  private final int self;
  private final int nodes;
  private final HeartbeatOptions options;
  private final HeartbeatElection election;
  private final Listener listener;
  private final BackgroundCalls background;
  private final TimeSource time;
  private final StoreWatch watch;
  private final HeartbeatAge ofStore = new HeartbeatAge(LONGEST_PAUSE);
  private final AtomicBoolean underWay = new AtomicBoolean();
  private final Object round = new Object();
  private long begunNanos;

  /** Guarded by {@link #round}. */
  private final BitSet known = new BitSet();

  private HeartbeatAge ofObserved;
  private int observed;
  private boolean observedHasBeaten;

  private volatile boolean storeLost;
  private volatile boolean storeHung;
  private volatile boolean closed;

  /**
   * Creates the heartbeat of one rank, and begins to listen.
   *
   * @param store the group's, whose keys all its ranks see
   * @param options the same on all ranks
   * @param host of which the context is not used
   */
  Heartbeat(
      Store store, Position position, HeartbeatOptions options, Listener listener, RankHost host) {
    this.store = store.withTimeout(STORE_TIMEOUT);
    this.self = position.self();
    this.nodes = position.nodes();
    this.options = options;
    this.election = position.election();
    this.listener = listener;
    this.time = host.time();
    this.background = new BackgroundCalls(host.background(), LOG, "JVM " + self + " of " + nodes);
    this.begunNanos = time.nanos() - options.interval().toNanos();
    observe(before(self));
    election.join(this);
    this.watch =
        new StoreWatch(
            this.store,
            StoreWatch.Keys.series(UNRESPONSIVE, 1),
            options.interval(),
            background,
            time,
            new StoreWatch.Listener() {
              @Override
              public void arrived(long number, byte[] value) {
                heard(number, value);
              }

              @Override
              public void lost(Throwable cause) {
                storeLost();
              }
            });
    watch.open();
  }

  /**
   * Notes that the store is lost. Ranks that can still reach it find this JVM unresponsive, unless
   * another of its ranks can.
   */
  private void storeLost() {
    storeLost = true;
    election.leave(this);
  }

  /** Returns whether the store has not responded for longer than the timeout. */
  boolean isStoreUnresponsive() {
    return storeLost || storeHung;
  }

  /**
   * Sends and checks heartbeats if that is due, in the background. Called by the watchdog only;
   * does not block.
   */
  void poll() {
    if (closed || storeLost) {
      return;
    }
    watch.poll();
    long now = time.nanos();
    Duration unanswered = ofStore.observe(election.answers(), now);
    storeHung = unanswered.compareTo(options.timeout()) >= 0;
    if (storeHung) {
      listener.storeUnresponsive(unanswered);
    }
    if (now - begunNanos >= options.interval().toNanos() && underWay.compareAndSet(false, true)) {
      begunNanos = now;
      if (!background.run(this::beatAndEnd)) {
        underWay.set(false);
      }
    }
  }

  private void beatAndEnd() {
    try {
      beat();
    } finally {
      underWay.set(false);
    }
  }

  private void beat() {
    synchronized (round) {
      if (!closed && election.isElected(this)) {
        store.set(BEAT + self, number(election.nextBeat()));
        election.answered();
        checkObserved();
      }
    }
  }

  private void checkObserved() {
    if (observed == self) {
      return;
    }
    long beat = beatOfObserved();
    if (beat == FAREWELL) {
      observe(before(observed));
      return;
    }
    Duration age = ofObserved.observe(beat, time.nanos());
    if (age.compareTo(options.patience()) >= 0) {
      int unresponsive = observed;
      publish(unresponsive, age);
      // The node may have sent a heartbeat meanwhile.
      if (observed == unresponsive) {
        observe(before(unresponsive));
      }
    }
  }

  private long beatOfObserved() {
    String key = BEAT + observed;
    if (!observedHasBeaten) {
      observedHasBeaten = store.check(List.of(key));
    }
    byte[] beat = observedHasBeaten ? store.get(key) : ABSENT;
    // Other bytes are no heartbeat.
    return beat.length == Long.BYTES ? ByteBuffer.wrap(beat).getLong() : NONE;
  }

  private void observe(int node) {
    observed = node;
    observedHasBeaten = false;
    ofObserved = new HeartbeatAge(options.longestStep());
  }

  /**
   * Returns the JVM before another in the ring, leaving out those that are known to be
   * unresponsive.
   */
  private int before(int node) {
    int before = node;
    do {
      before = (before + nodes - 1) % nodes;
    } while (before != self && known.get(before));
    return before;
  }

  /** Publishes that a JVM is unresponsive under the next free number, unless another rank has. */
  private void publish(int node, Duration age) {
    byte[] mine = ByteBuffer.allocate(RECORD_BYTES).putInt(node).putLong(age.toMillis()).array();
    known.set(node);
    long at = watch.next();
    while (nodeOf(store.compareSet(UNRESPONSIVE + at, ABSENT, mine)) != node) {
      at++;
    }
  }

  /** Returns the JVM that a record names; -1 if that is no JVM of the ring. */
  private int nodeOf(byte[] record) {
    int node = record.length == RECORD_BYTES ? ByteBuffer.wrap(record).getInt() : -1;
    return node < nodes ? node : -1;
  }

  private static byte[] number(long value) {
    return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
  }

  private void heard(long number, byte[] record) {
    int node = nodeOf(record);
    if (node < 0) {
      LOG.warn(
          "JVM {} of {} ignores {} bytes under {}{}, which name no JVM",
          self,
          nodes,
          record.length,
          UNRESPONSIVE,
          number);
      return;
    }
    synchronized (round) {
      known.set(node);
      if (node == observed) {
        observe(before(observed));
      }
    }
    listener.unresponsive(node, Duration.ofMillis(ByteBuffer.wrap(record).getLong(Integer.BYTES)));
  }

  /**
   * Stops. The last rank of the JVM publishes that the JVM leaves. Blocks for a store call or two,
   * for some seconds if the store does not respond.
   */
  @Override
  public void close() {
    closed = true;
    watch.close();
    synchronized (round) {
      if (election.leave(this) && !storeLost && !storeHung) {
        try {
          store.set(BEAT + self, number(FAREWELL));
        } catch (StoreException | IllegalStateException e) {
          LOG.debug("JVM {} of {} could not write its farewell: {}", self, nodes, e.toString());
        }
      }
    }
  }
}
