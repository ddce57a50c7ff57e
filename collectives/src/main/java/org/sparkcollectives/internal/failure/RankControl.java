package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.GroupStatus;
import org.sparkcollectives.internal.liveness.BackgroundCalls;
import org.sparkcollectives.internal.liveness.JvmStatus;
import org.sparkcollectives.internal.liveness.RankHost;
import org.sparkcollectives.internal.liveness.StoreWatch;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.spi.RankAnswer;
import org.sparkcollectives.spi.RankRequest;
import org.sparkcollectives.store.Store;

/**
 * Answers requests that reach a rank through the store of its first group, in the background: at
 * once if the store can be watched, else within a second.
 */
public final class RankControl implements AutoCloseable {

  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration POLL = Duration.ofSeconds(1);
  private static final Logger LOG = LoggerFactory.getLogger(RankControl.class);

  private final Membership world;
  private final Store store;
  private final RankDumps dumps;
  private final BackgroundCalls background;
  private final StoreWatch watch;

  /**
   * Creates the control of a rank, and begins to listen for requests in the world's part of the
   * store.
   */
  public RankControl(Membership world, Store store, RankDumps dumps, RankHost host) {
    this.world = world;
    this.store = store.withTimeout(STORE_TIMEOUT);
    this.dumps = dumps;
    this.background = BackgroundCalls.of(host.background(), LOG, world.identity());
    this.watch =
        new StoreWatch(
            this.store,
            StoreWatch.Keys.series(RankRequest.KEYS, 1),
            POLL,
            background,
            host.time(),
            this::answer);
    watch.open();
  }

  private void answer(long number, byte[] value) {
    RankRequest request;
    try {
      request = RankRequest.of(number, value);
    } catch (IllegalArgumentException e) {
      LOG.warn("{} is asked for what it does not know: {}", world, e.toString());
      return;
    }
    switch (request.kind()) {
      case DUMP -> dumps.dump(RankRequest.occasion(number), request.reason());
      case PING -> answer(request, JvmStatus.summary());
      case STACKS -> answer(request, JvmStatus.stacks());
      case GROUPS -> answer(request, groups());
    }
  }

  private void answer(RankRequest request, String text) {
    request.answer(
        store,
        new RankAnswer(
            world.self().rank(),
            world.self().host(),
            world.self().executorId(),
            world.self().taskAttemptId(),
            text));
  }

  private String groups() {
    return dumps.groups().stream().map(RankControl::describe).collect(Collectors.joining("\n"));
  }

  private static String describe(GroupStatus group) {
    return "group \""
        + group.name()
        + "\""
        + (group.description().isEmpty() ? "" : " (" + group.description() + ")")
        + " of ranks "
        + group.ranks()
        + ": last collective called #"
        + group.lastEnqueued()
        + ", begun #"
        + group.lastStarted()
        + ", done #"
        + group.lastCompleted();
  }

  /** Reads requests periodically, if the store cannot be watched. Does not block. */
  public void poll() {
    watch.poll();
  }

  /**
   * Stops listening, and waits for two seconds at the most until the requests that were begun are
   * answered.
   */
  @Override
  public void close() {
    watch.close();
    if (!background.await(CLOSE_TIMEOUT)) {
      LOG.warn("{} could not answer what it was asked within {}", world, CLOSE_TIMEOUT);
    }
  }
}
