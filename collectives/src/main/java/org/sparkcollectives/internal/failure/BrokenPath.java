package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.internal.liveness.BackgroundCalls;
import org.sparkcollectives.internal.liveness.LeaveTracker;
import org.sparkcollectives.internal.liveness.ProgressAnswers;
import org.sparkcollectives.internal.liveness.RankHost;
import org.sparkcollectives.internal.liveness.TimeSource;
import org.sparkcollectives.internal.rendezvous.Membership;

/**
 * Determines why a path to a peer broke.
 *
 * <p>A peer that leaves because the group has failed closes its paths, too. Before that it
 * publishes that it leaves, unless its store does not answer. Then the failure that it knows
 * counts, and not the end of its paths.
 *
 * <p>A library with its own connections may report only that a peer is gone, and not which. Then
 * the rank that failed has a moment to publish why. If none does, the ranks that do not answer a
 * question are named.
 */
public final class BrokenPath {

  /** The time in which the first cause may arrive; its arrival ends the wait. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final Logger LOG = LoggerFactory.getLogger(BrokenPath.class);

  private final Membership members;
  private final GroupState state;
  private final Supplier<ProgressAnswers> ask;
  private final AbortPropagation propagation;
  private final LeaveTracker leaves;
  private final TimeSource time;
  private final BackgroundCalls background;
  private final AtomicBoolean checking = new AtomicBoolean();

  /**
   * Creates the handling of broken paths in a group.
   *
   * @param ask asks the ranks; blocks for a second or two
   */
  public BrokenPath(
      Membership members,
      GroupState state,
      Supplier<ProgressAnswers> ask,
      AbortPropagation propagation,
      LeaveTracker leaves,
      RankHost host) {
    this.leaves = leaves;
    this.members = members;
    this.state = state;
    this.ask = ask;
    this.propagation = propagation;
    this.time = host.time();
    this.background = BackgroundCalls.of(host.background(), LOG, members.identity());
  }

  /**
   * Fails the group because the path to this peer broke, unless it is failing for such a reason
   * already. Does not block.
   */
  void report(int peer, Throwable cause) {
    if (state.failed() || !checking.compareAndSet(false, true)) {
      return;
    }
    Failure broken =
        members.identityOf(peer).failure(Failure.Kind.CONNECTION_RESET, "", -1, cause.toString());
    long now = time.nanos();
    if (propagation.failsAtOnce()) {
      propagation.operationFailed(broken, null, now);
      return;
    }
    if (state.beginSettling()) {
      // The group fails in time even if the store does not answer. Where something else was
      // noticed before, that has its own limit, and this may be its consequence.
      propagation.failAtTheLatest(broken, now);
    }
    if (!background.run(() -> settle(peer, broken, now))) {
      propagation.operationFailed(broken, null, now);
    }
  }

  private void settle(int peer, Failure broken, long sinceNanos) {
    boolean known = false;
    try {
      known = leaves.hasLeftAfterFailure(peer) && propagation.failAsPublished();
    } finally {
      if (!known) {
        propagation.operationFailed(broken, null, sinceNanos);
      }
    }
  }

  /**
   * Fails the group because of an exception, unless it is failing already. Does not block.
   *
   * @param own the record of it that names this rank
   * @param local what the operations of this rank then throw
   */
  void report(Failure own, Function<String, CollectiveException> local) {
    if (state.beginSettling() && !background.run(() -> settle(own, local))) {
      propagation.operationFailed(own, local);
    }
  }

  private void settle(Failure own, Function<String, CollectiveException> local) {
    long begin = time.nanos();
    // A rank that has left in good order may be the cause, too, and does not answer any more.
    List<Integer> unresponsive = List.of();
    try {
      unresponsive = ask.get().unresponsive();
      while (!state.failed()
          && time.nanos() - begin < PATIENCE.toNanos()
          && !Thread.currentThread().isInterrupted()) {
        time.sleep(LOOK_NANOS);
      }
    } finally {
      if (!state.failed()) {
        name(unresponsive, own, local, begin);
      }
    }
  }

  private void name(
      List<Integer> unresponsive,
      Failure own,
      Function<String, CollectiveException> local,
      long sinceNanos) {
    if (unresponsive.isEmpty()) {
      propagation.operationFailed(own, local, sinceNanos);
      return;
    }
    propagation.operationFailed(
        members
            .identityOf(unresponsive.get(0))
            .failure(
                Failure.Kind.CONNECTION_RESET,
                own.operation(),
                own.sequenceNumber(),
                own.cause().lines().findFirst().orElse("")
                    + "; no answer from rank"
                    + (unresponsive.size() == 1 ? " " : "s ")
                    + String.join(", ", unresponsive.stream().map(String::valueOf).toList())),
        null,
        sinceNanos);
  }
}
