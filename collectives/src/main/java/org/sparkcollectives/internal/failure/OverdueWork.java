package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.membership.Membership;
import org.sparkcollectives.store.Store;

/**
 * What becomes of a rank's work at its deadline: the ranks are asked who has not joined it and
 * where they are instead, and the group fails with what they say.
 */
final class OverdueWork implements AutoCloseable {

  private final Membership members;
  private final ProgressInquiry inquiry;
  private final BiConsumer<Failure, Function<String, CollectiveException>> group;
  private final Executor background;
  private final AtomicBoolean inquiring = new AtomicBoolean();

  /**
   * Begins to answer the questions of others.
   *
   * @param own how far this rank has come
   * @param whereIsOwn where this rank's thread is
   * @param group fails with a record, and with what the operations of this rank then throw
   */
  OverdueWork(
      Membership members,
      Store store,
      Supplier<RankProgress> own,
      Supplier<ThreadStack> whereIsOwn,
      BiConsumer<Failure, Function<String, CollectiveException>> group,
      Executor background) {
    this.members = members;
    this.group = group;
    this.background = background;
    this.inquiry =
        new ProgressInquiry(store, members.rank(), members.size(), own, whereIsOwn, background);
  }

  /** Fails the group because of this work, unless it ends meanwhile. Does not block. */
  void report(PendingWork work) {
    if (!inquiring.compareAndSet(false, true)) {
      return;
    }
    try {
      background.execute(
          () -> {
            ProgressAnswers answers = ProgressAnswers.NONE;
            List<Integer> missing = List.of();
            String who = work.whoIsMissing();
            if (!work.opType().isPointToPoint()) {
              answers = inquiry.ask(work.sequenceNumber());
              missing = answers.missing(work.sequenceNumber());
              who = answers.describe(missing, members.places());
            }
            if (work.isCompleted()) {
              inquiring.set(false);
            } else {
              timedOut(work, missing, who, answers);
            }
          });
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      // No thread could be had: at the next look there may be one.
      inquiring.set(false);
    }
  }

  private void timedOut(
      PendingWork work, List<Integer> missing, String who, ProgressAnswers answers) {
    RankIdentity self = members.identity();
    String text =
        work.describe()
            + " of "
            + self.where()
            + " timed out after "
            + seconds(work.statedTimeout())
            + ": "
            + who
            + ". Raise spark.collectives.timeout only if they are expected to be this slow.";
    int late = missing.isEmpty() ? work.lateRank() : missing.get(0);
    RankIdentity guilty = late < 0 ? self : members.identityOf(late);
    ThreadStack stack = answers.stacks().get(late);
    // Not the work itself: a failed group that is kept must not keep its tensors.
    String operationLabel = work.opType().label();
    long number = work.sequenceNumber();
    group.accept(
        guilty.failure(
            Failure.Kind.TIMEOUT,
            work.describe(),
            work.sequenceNumber(),
            stack == null ? text : text + stack.frames()),
        operation -> new CollectiveTimeoutException(text, operationLabel, number, missing));
  }

  /** Asks all ranks for a sign of life, where they can be asked. Blocks for a second or two. */
  ProgressAnswers askForLife() {
    return inquiry.canAsk() ? inquiry.ask(-1) : ProgressAnswers.NONE;
  }

  private static String seconds(Duration duration) {
    return duration.toMillis() / 1000.0 + " s";
  }

  /** Stops answering. */
  @Override
  public void close() {
    inquiry.close();
  }
}
