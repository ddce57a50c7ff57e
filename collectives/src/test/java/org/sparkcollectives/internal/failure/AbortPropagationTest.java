package org.sparkcollectives.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.Failure;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.internal.failure.GroupState.Phase;
import org.sparkcollectives.internal.liveness.FakeTime;
import org.sparkcollectives.internal.liveness.RankHost;
import org.sparkcollectives.internal.liveness.Ranks;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.spi.failure.PublishedFailure;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.testing.StoreTraffic;

/**
 * Tests how a failure of one rank reaches the others, and which of several the group fails with.
 * Time is the test's, and everything happens on its thread.
 */
class AbortPropagationTest {

  private final HashStore store = new HashStore();
  private final FakeTime time = new FakeTime(Long.MAX_VALUE - 5);
  private final Membership members = Ranks.membership(0, 3);
  private final GroupState state = new GroupState(members.identity());
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
    open(mode, store);
  }

  private void open(ErrorHandling mode, Store over) {
    propagation =
        new AbortPropagation(
            over,
            state,
            members.identity(),
            mode,
            new RankHost(new Ranks.Context(), this::run, time));
  }

  /**
   * A view of the store each of whose calls takes so long, in which the watchdog looks after the
   * group, and then is done or not.
   */
  private Store slow(Store target, Duration duration, boolean answers) {
    return (Store)
        Proxy.newProxyInstance(
            AbortPropagationTest.class.getClassLoader(),
            new Class<?>[] {Store.class},
            (proxy, method, arguments) -> {
              if (!method.getName().startsWith("with")) {
                long begin = time.nanos();
                while (time.nanos() - begin < duration.toNanos()) {
                  time.pass(Duration.ofMillis(10));
                  propagation.failIfUnanswered();
                }
                if (!answers) {
                  throw new StoreConnectionException("no answer", null);
                }
              }
              try {
                Object result = method.invoke(target, arguments);
                return result instanceof Store view ? slow(view, duration, answers) : result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** How long after the report the group fails. */
  private Duration failsAfter(Runnable report) {
    long[] at = new long[1];
    state.onFailure(() -> at[0] = time.nanos());
    long begin = time.nanos();
    report.run();
    assertThat(state.failed()).isTrue();
    return Duration.ofNanos(at[0] - begin);
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
  void theOthersHearOfItBeforeTheGroupEndsHere() {
    open(ErrorHandling.CLEAN_UP_ONLY);
    state.onFailure(
        () -> {
          assertThat(published.read()).isEqualTo(failure(Failure.Kind.EXCEPTION, 0));
          throw new StackOverflowError("of the end");
        });
    propagation.operationFailed(failure(Failure.Kind.EXCEPTION, 0), AbortPropagationTest::own);
    assertThat(state.phase()).isEqualTo(Phase.FAILED);
    assertThat(published.read()).isEqualTo(failure(Failure.Kind.EXCEPTION, 0));
  }

  @Test
  void aStoreThatThrowsAnErrorLeavesTheRankWithWhatItKnows() {
    Store broken =
        (Store)
            Proxy.newProxyInstance(
                AbortPropagationTest.class.getClassLoader(),
                new Class<?>[] {Store.class},
                (proxy, method, arguments) -> {
                  if (method.getName().startsWith("with")) {
                    return proxy;
                  }
                  throw new OutOfMemoryError("of a store");
                });
    open(ErrorHandling.CLEAN_UP_ONLY, broken);
    propagation.operationFailed(failure(Failure.Kind.CONNECTION_RESET, 1), null);
    assertThat(state.failure()).isEqualTo(failure(Failure.Kind.CONNECTION_RESET, 1));
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
    assertThat(nanos).isLessThanOrEqualTo(AbortPropagation.SETTLE.toNanos());
    assertThat(state.failure()).isEqualTo(failure(Failure.Kind.EXCEPTION, 2));
    assertThat(state.exceptionFor("op")).isInstanceOf(PeerFailedException.class);
  }

  @Test
  void aConsequenceCostsTheStoreOneOfferAndOneReading() {
    StoreTraffic traffic = new StoreTraffic();
    open(ErrorHandling.CLEAN_UP_ONLY, traffic.count(store));
    threads = false;
    published.offer(failure(Failure.Kind.CONNECTION_RESET, 1));
    threads = true;
    long before = traffic.requests();
    propagation.operationFailed(failure(Failure.Kind.CONNECTION_RESET, 2), null);
    assertThat(state.failure()).isEqualTo(failure(Failure.Kind.CONNECTION_RESET, 1));
    assertThat(traffic.requests() - before).isLessThanOrEqualTo(3);
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
  void aStoreThatDoesNotAnswerDelaysTheFailureByASecondAtMost() {
    open(ErrorHandling.CLEAN_UP_ONLY, slow(store, Duration.ofSeconds(5), false));
    Duration after =
        failsAfter(
            () ->
                propagation.operationFailed(
                    failure(Failure.Kind.TIMEOUT, 1), AbortPropagationTest::own));
    assertThat(after).isEqualTo(AbortPropagation.PUBLISH_LIMIT);
    assertThat(state.exceptionFor("op")).hasMessage("op threw");
  }

  @Test
  void theTimeInWhichTheStoreWasAskedBeforeCounts() {
    open(ErrorHandling.CLEAN_UP_ONLY, slow(store, Duration.ofSeconds(5), false));
    long since = time.nanos();
    time.pass(Duration.ofSeconds(1));
    Duration after =
        failsAfter(
            () ->
                propagation.operationFailed(
                    failure(Failure.Kind.TIMEOUT, 1), AbortPropagationTest::own, since));
    assertThat(after).isLessThan(AbortPropagation.PUBLISH_LIMIT.dividedBy(2));
  }

  @Test
  void whatIsPublishedOnlyAfterTheGroupHasFailedStillReachesTheOthers() {
    open(ErrorHandling.CLEAN_UP_ONLY, slow(store, Duration.ofSeconds(3), true));
    Duration after =
        failsAfter(() -> propagation.rankFailed(failure(Failure.Kind.UNRESPONSIVE, 1), null));
    assertThat(after).isEqualTo(AbortPropagation.PUBLISH_LIMIT);
    assertThat(published.read()).isEqualTo(failure(Failure.Kind.UNRESPONSIVE, 1));
  }

  @Test
  void aStoreThatAnswersInTimeMayStillTellOfTheCause() {
    open(ErrorHandling.CLEAN_UP_ONLY, slow(store, Duration.ofMillis(700), true));
    time.after(Duration.ofMillis(300), () -> published.offer(failure(Failure.Kind.EXCEPTION, 2)));
    propagation.operationFailed(failure(Failure.Kind.CONNECTION_RESET, 2), null);
    assertThat(state.failure()).isEqualTo(failure(Failure.Kind.EXCEPTION, 2));
  }

  @Test
  void withoutPropagationNeitherDoesAStoreThatDoesNotAnswerDelayTheFailure() {
    open(ErrorHandling.NONE, slow(store, Duration.ofSeconds(5), false));
    Duration after =
        failsAfter(
            () ->
                propagation.operationFailed(
                    failure(Failure.Kind.TIMEOUT, 1), AbortPropagationTest::own));
    assertThat(after).isLessThanOrEqualTo(AbortPropagation.PUBLISH_LIMIT);
  }

  @Test
  void afterTheCloseNothingIsHeard() {
    open(ErrorHandling.CLEAN_UP_ONLY);
    propagation.close();
    published.offer(failure(Failure.Kind.EXCEPTION, 1));
    assertThat(state.failed()).isFalse();
  }
}
