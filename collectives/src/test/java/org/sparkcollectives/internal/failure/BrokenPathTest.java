package org.sparkcollectives.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.Failure;
import org.sparkcollectives.internal.liveness.FakeTime;
import org.sparkcollectives.internal.liveness.LeaveTracker;
import org.sparkcollectives.internal.liveness.ProgressAnswers;
import org.sparkcollectives.internal.liveness.RankHost;
import org.sparkcollectives.internal.liveness.RankProgress;
import org.sparkcollectives.internal.liveness.Ranks;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.spi.failure.PublishedFailure;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.HashStore;

/** Tests which rank is named when a path broke, also where this rank cannot tell to whom it led. */
class BrokenPathTest {

  private static final RankProgress ANSWERED = new RankProgress(1, 1, "barrier #1");

  private final HashStore store = new HashStore();
  private final FakeTime time = new FakeTime(Long.MAX_VALUE - 5);
  private final Membership members = Ranks.membership(0, 3);
  private final GroupState state = new GroupState(members.identity());
  private boolean threads = true;

  /** Whether background calls stay where they are, as if the store did not answer. */
  private boolean storeHangs;

  private ProgressAnswers answers = answers(ANSWERED, ANSWERED, ANSWERED);
  private int asked;
  private final RankHost host = new RankHost(new Ranks.Context(), this::run, time);
  private final AbortPropagation propagation =
      new AbortPropagation(store, state, members.identity(), ErrorHandling.CLEAN_UP_ONLY, host);
  private final LeaveTracker leaves = new LeaveTracker(store, members, host);
  private final BrokenPath path =
      new BrokenPath(members, state, this::ask, propagation, leaves, host);

  @AfterEach
  void close() {
    leaves.close();
    propagation.close();
    store.close();
  }

  private void run(Runnable action) {
    if (!threads) {
      throw new RejectedExecutionException("the node has ended");
    }
    if (!storeHangs) {
      action.run();
    }
  }

  private static ProgressAnswers answers(RankProgress... of) {
    return new ProgressAnswers(Arrays.asList(of), Map.of(), "");
  }

  private ProgressAnswers ask() {
    asked++;
    return answers;
  }

  private void report() {
    Failure own =
        members.identity().failure(Failure.Kind.CONNECTION_RESET, "barrier #2", 2, "no\nroute");
    path.report(own, operation -> new CollectiveException(operation + " threw"));
  }

  @Test
  void whereAllAnswerTheRankThatFailedIsNamedAfterASecond() {
    long begin = time.nanos();
    report();
    assertThat(time.nanos() - begin).isGreaterThanOrEqualTo(Duration.ofSeconds(1).toNanos());
    assertThat(state.failure().rank()).isZero();
    assertThat(state.exceptionFor("op")).hasMessage("op threw");
  }

  @Test
  void theFirstThatDoesNotAnswerIsNamed() {
    answers = answers(ANSWERED, null, null);
    report();
    assertThat(state.failure().rank()).isEqualTo(1);
    assertThat(state.failure().cause()).isEqualTo("no; no answer from ranks 1, 2");
    assertThat(state.failure().operation()).isEqualTo("barrier #2");
  }

  @Test
  void nobodyIsNamedWhereNotEvenThisRankCouldAsk() {
    answers = answers(null, null, null);
    report();
    assertThat(state.failure().rank()).isZero();
  }

  @Test
  void aRankThatTellsWhyWithinTheSecondIsNamed() {
    answers = answers(ANSWERED, null, ANSWERED);
    Failure cause = members.identityOf(2).failure(Failure.Kind.EXCEPTION, "", -1, "thrown");
    time.after(Duration.ofMillis(500), () -> new PublishedFailure(store).offer(cause));
    report();
    assertThat(state.failure()).isEqualTo(cause);
  }

  @Test
  void theRanksAreAskedOnce() {
    report();
    report();
    assertThat(asked).isEqualTo(1);
  }

  @Test
  void whereNoThreadCanBeHadTheGroupFailsAtOnce() {
    threads = false;
    report();
    assertThat(asked).isZero();
    assertThat(state.failure().rank()).isZero();
  }

  @Test
  void aPeerWhosePathBreaksIsNamed() {
    path.report(1, new IllegalStateException("reset"));
    assertThat(state.failure().kind()).isEqualTo(Failure.Kind.CONNECTION_RESET);
    assertThat(state.failure().rank()).isEqualTo(1);
    assertThat(new PublishedFailure(store).read()).isEqualTo(state.failure());
  }

  @Test
  void theFailureCountsForWhichThePeerHasLeft() {
    Failure late = members.identityOf(1).failure(Failure.Kind.TIMEOUT, "barrier #2", 2, "late");
    leaveAfter(late, 1);
    path.report(1, new IllegalStateException("reset"));
    assertThat(state.failure()).isEqualTo(late);
    assertThat(new PublishedFailure(store).read()).isEqualTo(late);
  }

  @Test
  void aPeerThatHasLeftAfterAFailureOfItsOwnIsNamed() {
    leaveAfter(null, 1);
    path.report(1, new IllegalStateException("reset"));
    assertThat(state.failure().kind()).isEqualTo(Failure.Kind.CONNECTION_RESET);
  }

  @Test
  void aPeerThatHasNotLeftIsNamedThoughAnotherHas() {
    Failure late = members.identityOf(1).failure(Failure.Kind.TIMEOUT, "barrier #2", 2, "late");
    leaveAfter(late, 2);
    path.report(1, new IllegalStateException("reset"));
    assertThat(state.failure().kind()).isEqualTo(Failure.Kind.CONNECTION_RESET);
  }

  @Test
  void aPeerIsNamedThoughTheStoreCannotBeAskedWhetherItHasLeft() {
    store.close();
    path.report(1, new IllegalStateException("reset"));
    assertThat(state.failure().rank()).isEqualTo(1);
  }

  @Test
  void whereNoThreadCanBeHadThePeerIsNamedAtOnce() {
    threads = false;
    path.report(1, new IllegalStateException("reset"));
    assertThat(state.failure().rank()).isEqualTo(1);
  }

  @Test
  void theGroupFailsWithinASecondThoughTheStoreHangs() {
    storeHangs = true;
    path.report(1, new IllegalStateException("reset"));
    propagation.failIfUnanswered();
    assertThat(state.failed()).isFalse();
    assertThat(state.isFailing()).isTrue();
    time.sleep(Duration.ofSeconds(1).toNanos());
    propagation.failIfUnanswered();
    assertThat(state.failure().kind()).isEqualTo(Failure.Kind.CONNECTION_RESET);
    assertThat(state.failure().rank()).isEqualTo(1);
  }

  @Test
  void theFirstPeerIsNamedWhosePathBreaksThoughTheStoreHangs() {
    storeHangs = true;
    path.report(2, new IllegalStateException("reset"));
    storeHangs = false;
    path.report(1, new IllegalStateException("reset"));
    assertThat(state.failed()).isFalse();
    time.sleep(Duration.ofSeconds(1).toNanos());
    propagation.failIfUnanswered();
    assertThat(state.failure().rank()).isEqualTo(2);
  }

  @Test
  void whereConsequencesCountTheGroupFailsAtOnce() {
    storeHangs = true;
    GroupState hasty = new GroupState(members.identity());
    try (AbortPropagation atOnce =
        new AbortPropagation(store, hasty, members.identity(), ErrorHandling.SKIP_CLEAN_UP, host)) {
      new BrokenPath(members, hasty, this::ask, atOnce, leaves, host)
          .report(1, new IllegalStateException("reset"));
      assertThat(hasty.failure().rank()).isEqualTo(1);
    }
  }

  /** Lets a peer learn of a failure in the store, and leave; null for one that no other learns. */
  private void leaveAfter(Failure failure, int peer) {
    threads = false;
    if (failure != null) {
      new PublishedFailure(store).offer(failure);
    }
    try (LeaveTracker left = new LeaveTracker(store, Ranks.membership(peer, 3), host)) {
      left.leaveAfterFailure(Deadline.after(Duration.ofSeconds(1)));
    }
    threads = true;
  }
}
