package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.Failure;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;

/**
 * Carries the failure of one rank to all: through one key of the group's store, which keeps the
 * record that tells most of the first cause.
 *
 * <p>One cause has many consequences: peers see a reset connection, and Spark kills their tasks. A
 * rank that knows only a consequence publishes it, and gives the cause {@link #SETTLE} to arrive
 * before it fails the group with the best record by then. A user's exception is the best there is,
 * and fails the group at once.
 *
 * <p>Nothing here blocks the caller; the store is used in the background only.
 */
final class AbortPropagation implements AutoCloseable {

  /** How long a rank that was hit by a consequence waits for a better record. */
  static final Duration SETTLE = Duration.ofMillis(100);

  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration REREAD = Duration.ofMillis(20);
  private static final Duration POLL = Duration.ofMillis(10);
  private static final Logger LOG = LoggerFactory.getLogger(AbortPropagation.class);

  private final PublishedFailure published;
  private final GroupState state;
  private final RankIdentity self;
  private final ErrorHandling mode;
  private final TimeSource time;
  private final BackgroundCalls background;
  private final StoreWatch watch;

  /** Begins to listen for the failures of other ranks. */
  AbortPropagation(
      Store groupStore, GroupState state, RankIdentity self, ErrorHandling mode, RankHost host) {
    Store store = groupStore.withTimeout(STORE_TIMEOUT);
    this.published = new PublishedFailure(store);
    this.state = state;
    this.self = self;
    this.mode = mode;
    this.time = host.time();
    this.background = new BackgroundCalls(host.background(), LOG, self.where());
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
                settle(FailureCodec.decode(record));
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
  void poll() {
    watch.poll();
  }

  /** Looks for a failure of another rank in any store. Does not block. */
  void read() {
    watch.read();
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
      publish(failure);
    }
  }

  /**
   * Reports that an operation has failed or is overdue: to all ranks, or in the mode {@link
   * ErrorHandling#NONE} to this rank alone.
   *
   * @param local as in {@link #rankFailed}
   */
  void operationFailed(Failure failure, Function<String, CollectiveException> local) {
    if (!state.notice(failure, local)) {
      return;
    }
    if (mode.tellsOthers()) {
      publish(failure);
    } else {
      keep(failure);
    }
  }

  /** Publishes a failure, and fails the group with the best record known. */
  private void publish(Failure failure) {
    if (failure.kind() == Failure.Kind.EXCEPTION || mode == ErrorHandling.SKIP_CLEAN_UP) {
      fail(failure);
    }
    boolean begun =
        background.run(
            () -> {
              Failure best = failure;
              try {
                best = published.offer(failure);
              } catch (RuntimeException e) {
                LOG.warn("{} could not publish its failure: {}", self.where(), e.toString());
              }
              settle(best);
            });
    if (!begun) {
      fail(failure);
    }
  }

  /** Fails the group on this rank alone, or with a better record of another rank. */
  private void keep(Failure failure) {
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
  boolean awaitPublished(Duration atMost) {
    return background.await(atMost);
  }

  /** Stops listening. */
  @Override
  public void close() {
    watch.close();
  }

  private void settle(Failure known) {
    Failure best = known;
    long start = time.nanos();
    boolean over = false;
    while (!over && !state.failed() && best.kind() != Failure.Kind.EXCEPTION) {
      time.sleep(REREAD.toNanos());
      // Before the last look, as a busy machine may let this thread wait for longer than that.
      over = time.nanos() - start >= SETTLE.toNanos();
      Failure found = readQuietly();
      if (found != null && found.outranks(best)) {
        best = found;
      }
    }
    fail(best);
  }

  private Failure readQuietly() {
    try {
      return published.read();
    } catch (StoreException | IllegalStateException e) {
      // Gone, or closed by the user: this rank's own record is the best there is.
      return null;
    }
  }

  private void fail(Failure failure) {
    if (state.fail(failure)) {
      LOG.debug("{} has failed: {} {}", self.where(), failure.where(), failure.kind().verb());
    }
  }
}
