package org.sparkcollectives.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.Failure;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.internal.failure.GroupState.Phase;
import org.sparkcollectives.membership.Membership;
import org.sparkcollectives.store.HashStore;

/**
 * Tests how a failure of one rank reaches the others, and which of several the group fails with.
 * Time is the test's, and everything happens on its thread.
 */
class AbortPropagationTest {

  private final HashStore store = new HashStore();
  private final FakeTime time = new FakeTime(Long.MAX_VALUE - 5);
  private final Membership members = Ranks.membership(0, 3);
  private final GroupState state = new GroupState(members.identity(), () -> {});
  private final PublishedFailure published = new PublishedFailure(store);
  private boolean threads = true;
  private AbortPropagation propagation;

  private void run(Runnable action) {
    if (!threads) {
      throw new RejectedExecutionException("the node has ended");
    }
    action.run();
  }

  private void open(ErrorHandling mode) {
    propagation =
        new AbortPropagation(
            store,
            state,
            members.identity(),
            mode,
            new RankHost(new Ranks.Context(), this::run, time));
  }

  @AfterEach
  void close() {
    propagation.close();
    store.close();
  }

  private Failure failure(Failure.Kind kind, int rank) {
    return members.identityOf(rank).failure(kind, "", -1, kind + " of " + rank);
  }

  private static CollectiveException own(String operation) {
    return new CollectiveException(operation + " threw");
  }

  private long waited(Runnable action) {
    long begin = time.nanos();
    action.run();
    return time.nanos() - begin;
  }

  @Test
  void anExceptionFailsTheGroupAtOnceAndIsPublished() {
    open(ErrorHandling.CLEAN_UP_ONLY);
    long nanos =
        waited(
            () ->
                propagation.operationFailed(
                    failure(Failure.Kind.EXCEPTION, 0), AbortPropagationTest::own));
    assertThat(nanos).isZero();
    assertThat(state.phase()).isEqualTo(Phase.FAILED);
    assertThat(state.exceptionFor("op")).hasMessage("op threw");
    assertThat(published.read()).isEqualTo(failure(Failure.Kind.EXCEPTION, 0));
  }

  @Test
  void aConsequenceWaitsAMomentForTheCauseAndThenFailsTheGroup() {
    open(ErrorHandling.CLEAN_UP_ONLY);
    time.after(
        AbortPropagation.SETTLE.dividedBy(2),
        () -> assertThat(state.phase()).isEqualTo(Phase.FAILING));
    long nanos =
        waited(() -> propagation.operationFailed(failure(Failure.Kind.CONNECTION_RESET, 1), null));
    assertThat(nanos).isEqualTo(AbortPropagation.SETTLE.toNanos());
    assertThat(state.failure()).isEqualTo(failure(Failure.Kind.CONNECTION_RESET, 1));
    assertThat(published.read()).isEqualTo(failure(Failure.Kind.CONNECTION_RESET, 1));
  }

  @Test
  void aCauseThatArrivesMeanwhileIsWhatTheGroupFailsWith() {
    open(ErrorHandling.CLEAN_UP_ONLY);
    time.after(Duration.ofMillis(50), () -> published.offer(failure(Failure.Kind.EXCEPTION, 2)));
    long nanos =
        waited(
            () ->
                propagation.operationFailed(
                    failure(Failure.Kind.CONNECTION_RESET, 2), AbortPropagationTest::own));
    assertThat(nanos).isLessThan(AbortPropagation.SETTLE.toNanos());
    assertThat(state.failure()).isEqualTo(failure(Failure.Kind.EXCEPTION, 2));
    assertThat(state.exceptionFor("op")).isInstanceOf(PeerFailedException.class);
  }

  @Test
  void aCauseThatComesTooLateStaysInTheStoreAlone() {
    open(ErrorHandling.CLEAN_UP_ONLY);
    propagation.operationFailed(failure(Failure.Kind.CONNECTION_RESET, 2), null);
    published.offer(failure(Failure.Kind.EXCEPTION, 2));
    assertThat(state.failure().kind()).isEqualTo(Failure.Kind.CONNECTION_RESET);
    assertThat(published.read().kind()).isEqualTo(Failure.Kind.EXCEPTION);
  }

  @Test
  void aFailureOfAnotherRankIsHeardAndFailsTheGroup() {
    open(ErrorHandling.CLEAN_UP_ONLY);
    published.offer(failure(Failure.Kind.EXCEPTION, 1));
    assertThat(state.failure()).isEqualTo(failure(Failure.Kind.EXCEPTION, 1));
  }

  @Test
  void whatIsHeardWhileNoThreadCanBeHadFailsTheGroupAtTheNextPoll() {
    open(ErrorHandling.CLEAN_UP_ONLY);
    threads = false;
    published.offer(failure(Failure.Kind.EXCEPTION, 1));
    assertThat(state.failed()).isFalse();
    threads = true;
    propagation.poll();
    assertThat(state.failure()).isEqualTo(failure(Failure.Kind.EXCEPTION, 1));
  }

  @Test
  void aRankThatKnowsLessThanWhatIsPublishedFailsWithThat() {
    published.offer(failure(Failure.Kind.EXCEPTION, 2));
    threads = false;
    open(ErrorHandling.CLEAN_UP_ONLY);
    threads = true;
    propagation.rankFailed(failure(Failure.Kind.TIMEOUT, 1), AbortPropagationTest::own);
    assertThat(state.failure()).isEqualTo(failure(Failure.Kind.EXCEPTION, 2));
    assertThat(published.read()).isEqualTo(failure(Failure.Kind.EXCEPTION, 2));
  }

  @Test
  void aSecondFailureThatTellsNoMoreIsNotPublished() {
    open(ErrorHandling.CLEAN_UP_ONLY);
    propagation.operationFailed(failure(Failure.Kind.EXECUTOR_LOST, 1), null);
    propagation.operationFailed(failure(Failure.Kind.CONNECTION_RESET, 2), null);
    assertThat(published.read()).isEqualTo(failure(Failure.Kind.EXECUTOR_LOST, 1));
    assertThat(state.failure()).isEqualTo(failure(Failure.Kind.EXECUTOR_LOST, 1));
  }

  @Test
  void withoutPropagationAFailedOperationIsNotPublishedButFailsTheGroupHere() {
    open(ErrorHandling.NONE);
    propagation.operationFailed(failure(Failure.Kind.EXCEPTION, 0), AbortPropagationTest::own);
    assertThat(state.exceptionFor("op")).hasMessage("op threw");
    assertThat(published.read()).isNull();
  }

  @Test
  void whatHasBecomeOfARankIsPublishedInEveryMode() {
    open(ErrorHandling.NONE);
    propagation.rankFailed(failure(Failure.Kind.KILLED, 0), null);
    assertThat(published.read()).isEqualTo(failure(Failure.Kind.KILLED, 0));
    assertThat(state.failed()).isTrue();
  }

  @Test
  void withoutCleanUpNothingIsWaitedFor() {
    open(ErrorHandling.SKIP_CLEAN_UP);
    long nanos =
        waited(() -> propagation.operationFailed(failure(Failure.Kind.CONNECTION_RESET, 1), null));
    assertThat(nanos).isZero();
    assertThat(state.failed()).isTrue();
    assertThat(published.read()).isNotNull();
  }

  @Test
  void whereNoThreadCanBeHadTheGroupFailsUnpublished() {
    open(ErrorHandling.CLEAN_UP_ONLY);
    threads = false;
    propagation.operationFailed(failure(Failure.Kind.CONNECTION_RESET, 1), null);
    assertThat(state.failure()).isEqualTo(failure(Failure.Kind.CONNECTION_RESET, 1));
    assertThat(published.read()).isNull();
  }

  @Test
  void whereTheStoreIsGoneTheGroupFailsWithWhatTheRankKnows() {
    open(ErrorHandling.CLEAN_UP_ONLY);
    store.close();
    propagation.operationFailed(failure(Failure.Kind.CONNECTION_RESET, 1), null);
    assertThat(state.failure()).isEqualTo(failure(Failure.Kind.CONNECTION_RESET, 1));
    assertThat(propagation.awaitPublished(Duration.ZERO)).isTrue();
  }

  @Test
  void afterTheCloseNothingIsHeard() {
    open(ErrorHandling.CLEAN_UP_ONLY);
    propagation.close();
    published.offer(failure(Failure.Kind.EXCEPTION, 1));
    assertThat(state.failed()).isFalse();
  }
}
