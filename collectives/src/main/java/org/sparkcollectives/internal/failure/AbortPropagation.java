package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.Failure;
import org.sparkcollectives.internal.liveness.BackgroundCalls;
import org.sparkcollectives.internal.liveness.RankHost;
import org.sparkcollectives.internal.liveness.StoreWatch;
import org.sparkcollectives.internal.liveness.TimeSource;
import org.sparkcollectives.spi.failure.FailureCodec;
import org.sparkcollectives.spi.failure.PublishedFailure;
import org.sparkcollectives.spi.failure.RankIdentity;
import org.sparkcollectives.store.Store;

/**
 * Carries the failure of one rank to all: through one key of the group's store, which keeps the
 * record that tells most of the first cause.
 *
 * <p>One cause has many consequences: peers see a reset connection, and Spark kills their tasks. A
 * rank that knows only a consequence publishes it, and gives the cause {@link #SETTLE} to arrive
 * before it fails the group with the best record by then. A user's exception is the best there is,
 * and fails the group at once.
 *
 * <p>A store that does not answer delays the failure by {@link #PUBLISH_LIMIT} at most: then the
 * group fails on this rank with the best record it knows, and the record goes on to be published
 * for as long as the store's calls last, because the others may still hear of it.
 *
 * <p>Nothing here blocks the caller; the store is used in the background only.
 */
public final class AbortPropagation implements AutoCloseable {

  /** The time for which a rank that knows only a consequence waits for a better record. */
  static final Duration SETTLE = Duration.ofMillis(100);

  /** The time for which a rank tries to publish a failure before its group fails anyway. */
  static final Duration PUBLISH_LIMIT = Duration.ofSeconds(1);

  /** The least time that a store call gets, even where less is left of the limit. */
  private static final Duration SHORTEST_TRY = Duration.ofMillis(300);

  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(5);

  /** How often a rank that settles looks whether its group has failed meanwhile. */
  private static final Duration LOOK = Duration.ofMillis(20);

  private static final Duration POLL = Duration.ofMillis(10);
  private static final Logger LOG = LoggerFactory.getLogger(AbortPropagation.class);

  /**
   * Holds what the group fails with on this rank if the store does not answer in time.
   *
   * @param endNanos when it fails with that
   */
  private record Unanswered(Failure failure, long endNanos) {

    /** Returns the better record of the two, at the earlier moment. */
    Unanswered and(Unanswered other) {
      return new Unanswered(
          other.failure().outranks(failure) ? other.failure() : failure,
          other.endNanos() - endNanos < 0 ? other.endNanos() : endNanos);
    }
  }

  private final PublishedFailure published;
  private final GroupState state;
  private final RankIdentity self;
  private final ErrorHandling mode;
  private final TimeSource time;
  private final BackgroundCalls background;
  private final StoreWatch watch;

  /** Null while this rank knows of no failure. */
  private final AtomicReference<Unanswered> unanswered = new AtomicReference<>();

  /** Begins to listen for the failures of other ranks. */
  public AbortPropagation(
      Store groupStore, GroupState state, RankIdentity self, ErrorHandling mode, RankHost host) {
    Store store = groupStore.withTimeout(STORE_TIMEOUT);
    this.published = new PublishedFailure(store);
    this.state = state;
    this.self = self;
    this.mode = mode;
    this.time = host.time();
    this.background = BackgroundCalls.of(host.background(), LOG, self);
    this.watch =
        new StoreWatch(
            store,
            StoreWatch.Keys.one(PublishedFailure.KEY),
            POLL,
            background,
            time,
            new StoreWatch.Listener() {
              @Override
              public void arrived(long number, byte[] record) {
                failAfterOther(FailureCodec.decode(record));
              }

              @Override
              public void lost(Throwable cause) {
                LOG.warn(
                    "{} has lost the group's store ({}): from now on it learns of failures only"
                        + " from its connections to other ranks and from deadlines",
                    self.where(),
                    cause.toString());
              }
            });
    watch.open();
  }

  /**
   * Looks for a failure of another rank where the store does not tell of it by itself. Does not
   * block.
   */
  public void poll() {
    watch.poll();
  }

  /**
   * Fails the group if a failure is known and the store has not answered in time. Called by the
   * watchdog; does not block.
   */
  public void failIfUnanswered() {
    Unanswered known = unanswered.get();
    if (known != null && time.nanos() - known.endNanos() >= 0 && !state.failed()) {
      LOG.warn(
          "{} fails before the others can be told, because the group's store does not answer",
          self.where());
      fail(known.failure());
    }
  }

  /** Looks for a failure of another rank in any store. Does not block. */
  public void read() {
    watch.read();
  }

  /**
   * Fails the group with what another rank has published, if one has. Blocks for {@link #SETTLE}
   * and the store's answers.
   *
   * @return whether a rank has published something
   */
  boolean failAsPublished() {
    Failure found = readQuietly();
    if (found != null) {
      failAfterOther(found);
    }
    return found != null;
  }

  private void failAfterOther(Failure failure) {
    failAtTheLatest(failure, time.nanos());
    settle(failure);
  }

  /**
   * Reports to all ranks, in every mode, that a rank has failed or is gone, unless this rank has
   * reported something that tells more.
   *
   * @param local what this rank's operations throw, made from an operation's description, if no
   *     better record turns up; null for what the record says
   */
  void rankFailed(Failure failure, Function<String, CollectiveException> local) {
    if (state.notice(failure, local)) {
      publish(failure, time.nanos());
    }
  }

  /**
   * Reports that an operation has failed or is overdue: to all ranks, or in the mode {@link
   * ErrorHandling#NONE} to this rank alone.
   *
   * @param local as in {@link #rankFailed}
   */
  void operationFailed(Failure failure, Function<String, CollectiveException> local) {
    operationFailed(failure, local, time.nanos());
  }

  /**
   * Reports that an operation has failed or is overdue, as {@link #operationFailed(Failure,
   * Function)} does.
   *
   * @param sinceNanos when this rank began to ask the store about it, which counts against {@link
   *     #PUBLISH_LIMIT}
   */
  void operationFailed(
      Failure failure, Function<String, CollectiveException> local, long sinceNanos) {
    if (!state.notice(failure, local)) {
      return;
    }
    if (mode.reportsToOthers()) {
      publish(failure, sinceNanos);
    } else {
      keep(failure, sinceNanos);
    }
  }

  /** Returns whether a group fails with the first that a rank knows, consequence or not. */
  boolean failsAtOnce() {
    return mode == ErrorHandling.SKIP_CLEAN_UP;
  }

  /** Makes the group fail with this or a better record, even if the store does not answer. */
  void failAtTheLatest(Failure failure, long sinceNanos) {
    long least = time.nanos() + SHORTEST_TRY.toNanos();
    long most = sinceNanos + PUBLISH_LIMIT.toNanos();
    unanswered.accumulateAndGet(
        new Unanswered(failure, most - least > 0 ? most : least),
        (known, added) -> known == null ? added : known.and(added));
  }

  /** Publishes a failure, and fails the group with the best record known. */
  private void publish(Failure failure, long sinceNanos) {
    failAtTheLatest(failure, sinceNanos);
    // The others first: whatever the end of the group does on this rank, they hear of it.
    boolean begun = background.run(() -> offer(failure));
    if (!begun || isFinal(failure)) {
      fail(failure);
    }
  }

  private void offer(Failure failure) {
    Failure best = failure;
    try {
      best = published.offer(failure);
      answered(best);
    } catch (RuntimeException | Error e) {
      LOG.warn("{} could not publish its failure: {}", self.where(), e.toString());
    } finally {
      settle(best);
    }
  }

  /** Notes that the store has answered: it has the time of a call again. */
  private void answered(Failure best) {
    unanswered.set(new Unanswered(best, time.nanos() + PUBLISH_LIMIT.toNanos()));
  }

  /** Fails the group on this rank alone, or with a better record of another rank. */
  private void keep(Failure failure, long sinceNanos) {
    failAtTheLatest(failure, sinceNanos);
    LOG.error(
        "The group of {} is over on this rank, and no other is told (error handling {}): {} {}: {}",
        self.where(),
        mode,
        failure.where(),
        failure.kind().verb(),
        failure.cause());
    if (!background.run(() -> settle(failure))) {
      fail(failure);
    }
  }

  /**
   * Waits until what was reported is published, or {@code atMost} is over.
   *
   * @return whether it is published
   */
  public boolean awaitPublished(Duration atMost) {
    return background.await(atMost);
  }

  /** Stops listening. */
  @Override
  public void close() {
    watch.close();
  }

  /**
   * Gives a better record the time to arrive, and fails the group with the best one. The store is
   * read once, at the end: all ranks settle at the same time, and one store answers them all.
   */
  private void settle(Failure known) {
    Failure best = known;
    if (!isFinal(known)) {
      long start = time.nanos();
      while (!state.failed() && time.nanos() - start < SETTLE.toNanos()) {
        time.sleep(LOOK.toNanos());
      }
      Failure found = state.failed() ? null : readQuietly();
      if (found != null && found.outranks(best)) {
        best = found;
      }
    }
    fail(best);
  }

  /** Returns whether the group fails with this at once, because nothing better can come. */
  private boolean isFinal(Failure failure) {
    return failure.kind() == Failure.Kind.EXCEPTION || failsAtOnce();
  }

  private Failure readQuietly() {
    try {
      return published.read();
    } catch (RuntimeException | Error e) {
      // Gone, closed by the user, or out of memory: this rank's own record is the best there is.
      LOG.debug("{} cannot read what others have published: {}", self.where(), e.toString());
      return null;
    }
  }

  private void fail(Failure failure) {
    if (state.fail(failure)) {
      LOG.debug("{} has failed: {} {}", self.where(), failure.where(), failure.kind().verb());
    }
  }
}
