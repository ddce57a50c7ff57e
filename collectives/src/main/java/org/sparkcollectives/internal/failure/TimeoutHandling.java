package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.internal.liveness.BackgroundCalls;
import org.sparkcollectives.internal.liveness.ProgressAnswers;
import org.sparkcollectives.internal.liveness.ProgressInquiry;
import org.sparkcollectives.internal.liveness.RankHost;
import org.sparkcollectives.internal.liveness.ThreadStack;
import org.sparkcollectives.internal.liveness.TimeSource;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.spi.failure.RankIdentity;

/**
 * Handles the timeout of an operation: asks all ranks which of them have not joined it and where
 * they are instead, and fails the group with the answers.
 */
public final class TimeoutHandling {

  private static final Logger LOG = LoggerFactory.getLogger(TimeoutHandling.class);

  private final Membership members;
  private final ProgressInquiry inquiry;
  private final AbortPropagation propagation;
  private final BackgroundCalls background;
  private final TimeSource time;
  private final AtomicBoolean inquiring = new AtomicBoolean();

  /** Creates the handling of timeouts of one rank's operations in a group. */
  public TimeoutHandling(
      Membership members, ProgressInquiry inquiry, AbortPropagation propagation, RankHost host) {
    this.members = members;
    this.inquiry = inquiry;
    this.propagation = propagation;
    this.background = BackgroundCalls.of(host.background(), LOG, members.identity());
    this.time = host.time();
  }

  /**
   * Fails the group because this work is overdue, unless it ends meanwhile. Does not block; called
   * repeatedly as long as the work is overdue.
   */
  public void handle(MonitoredOperation work) {
    if (!inquiring.compareAndSet(false, true)) {
      return;
    }
    // If no thread is available, there may be one at the next poll.
    long now = time.nanos();
    if (!background.run(() -> ask(work, now))) {
      inquiring.set(false);
    }
  }

  private void ask(MonitoredOperation work, long sinceNanos) {
    ProgressAnswers answers = inquiry.ownAnswer();
    List<Integer> missing = List.of();
    String who = work.missingRanks();
    if (!work.opType().isPointToPoint()) {
      answers = inquiry.ask(work.sequenceNumber());
      missing = answers.missing(work.sequenceNumber());
      who = answers.describe(missing, members.places());
    }
    if (work.isCompleted()) {
      inquiring.set(false);
    } else {
      timedOut(work, missing, who, answers, sinceNanos);
    }
  }

  private void timedOut(
      MonitoredOperation work,
      List<Integer> missing,
      String who,
      ProgressAnswers answers,
      long sinceNanos) {
    RankIdentity self = members.identity();
    String connecting = answers.connecting(members.places(), members.addresses());
    String text =
        work.describe()
            + " of "
            + self.where()
            + " timed out after "
            + seconds(work.statedTimeout())
            + ": "
            + who
            + (connecting.isEmpty()
                ? ". Raise spark.collectives.timeout only if they are expected to be this slow."
                : "; "
                    + connecting
                    + ". Check that no firewall or network policy closes these ports"
                    + " (spark.collectives.port).");
    int late = missing.isEmpty() ? work.lateRank() : missing.get(0);
    RankIdentity guilty = late < 0 ? self : members.identityOf(late);
    ThreadStack stack = answers.stacks().get(late);
    // The label is captured instead of the work, because a failed group that is still referenced
    // must not keep its tensors.
    String operationLabel = work.opType().label();
    long number = work.sequenceNumber();
    propagation.operationFailed(
        guilty.failure(
            Failure.Kind.TIMEOUT,
            work.describe(),
            work.sequenceNumber(),
            stack == null ? text : text + stack.frames()),
        operation -> new CollectiveTimeoutException(text, operationLabel, number, missing),
        sinceNanos);
  }

  private static String seconds(Duration duration) {
    return duration.toMillis() / 1000.0 + " s";
  }
}
