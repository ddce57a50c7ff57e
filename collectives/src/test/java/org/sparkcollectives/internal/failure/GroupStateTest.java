package org.sparkcollectives.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.internal.failure.GroupState.Phase;
import org.sparkcollectives.internal.liveness.Ranks;
import org.sparkcollectives.testing.Threads;

/** Tests each transition of a group's state. */
class GroupStateTest {

  private final GroupState state = new GroupState(Ranks.membership(0, 3).identity());

  private static Failure failure(Failure.Kind kind, int rank) {
    return Ranks.membership(0, 3).identityOf(rank).failure(kind, "", -1, kind + " of " + rank);
  }

  private static CollectiveException own(String operation) {
    return new CollectiveException(operation + " threw");
  }

  @Test
  void aNewGroupIsOpen() {
    assertThat(state.phase()).isEqualTo(Phase.OPEN);
    assertThat(state.failed()).isFalse();
    assertThat(state.isFailing()).isFalse();
    assertThat(state.isClosing()).isFalse();
    assertThat(state.failure()).isNull();
    state.check();
  }

  @Test
  void aNoticedFailureMakesItFailingUntilItFails() {
    Failure reset = failure(Failure.Kind.CONNECTION_RESET, 1);
    assertThat(state.notice(reset, null)).isTrue();
    assertThat(state.phase()).isEqualTo(Phase.FAILING);
    assertThat(state.isFailing()).isTrue();
    assertThat(state.failed()).isFalse();
    state.check();
    assertThat(state.fail(reset)).isTrue();
    assertThat(state.phase()).isEqualTo(Phase.FAILED);
    assertThat(state.isFailing()).isFalse();
    assertThat(state.failure()).isEqualTo(reset);
    assertThatThrownBy(state::check).isInstanceOf(PeerFailedException.class);
  }

  @Test
  void ofSeveralNoticedTheOneThatTellsMoreCounts() {
    assertThat(state.notice(failure(Failure.Kind.CONNECTION_RESET, 1), null)).isTrue();
    assertThat(state.notice(failure(Failure.Kind.CONNECTION_RESET, 2), null)).isFalse();
    assertThat(state.notice(failure(Failure.Kind.TIMEOUT, 2), null)).isFalse();
    assertThat(state.notice(failure(Failure.Kind.EXCEPTION, 2), null)).isTrue();
  }

  @Test
  void whatThisRankThrowsCountsUnlessARecordTellsMore() {
    state.notice(failure(Failure.Kind.CONNECTION_RESET, 0), GroupStateTest::own);
    state.fail(failure(Failure.Kind.TIMEOUT, 2));
    assertThat(state.exceptionFor("op")).hasMessage("op threw");
  }

  @Test
  void aRecordThatTellsMoreThanThisRankKnowsIsThrown() {
    state.notice(failure(Failure.Kind.CONNECTION_RESET, 0), GroupStateTest::own);
    state.fail(failure(Failure.Kind.EXCEPTION, 2));
    assertThat(state.exceptionFor("op"))
        .isInstanceOf(PeerFailedException.class)
        .hasMessageContaining("because rank 2 (127.0.0.1, executor executor 2, task 2) failed");
  }

  @Test
  void aRecordOfThisRankIsAnAbort() {
    state.fail(failure(Failure.Kind.KILLED, 0));
    assertThat(state.exceptionFor("op")).isInstanceOf(GroupAbortedException.class);
  }

  @Test
  void theFirstThatFailsItStays() {
    Failure first = failure(Failure.Kind.TIMEOUT, 1);
    assertThat(state.fail(first)).isTrue();
    assertThat(state.fail(failure(Failure.Kind.EXCEPTION, 2))).isFalse();
    assertThat(state.failure()).isEqualTo(first);
  }

  @Test
  void settlingBeginsOnceAndOnlyWhileNothingIsKnown() {
    assertThat(state.beginSettling()).isTrue();
    assertThat(state.phase()).isEqualTo(Phase.FAILING);
    assertThat(state.beginSettling()).isFalse();
    assertThat(state.notice(failure(Failure.Kind.CONNECTION_RESET, 1), null)).isTrue();
    state.fail(failure(Failure.Kind.CONNECTION_RESET, 1));
    assertThat(state.beginSettling()).isFalse();
    assertThat(state.phase()).isEqualTo(Phase.FAILED);
  }

  @Test
  void whatIsNoticedNeedsNoSettling() {
    state.notice(failure(Failure.Kind.CONNECTION_RESET, 1), null);
    assertThat(state.beginSettling()).isFalse();
  }

  @Test
  void aCloseBeginsOnceInEachPhase() {
    assertThat(state.beginClose(ClosingTime.of(Duration.ZERO))).isTrue();
    assertThat(state.phase()).isEqualTo(Phase.CLOSING);
    assertThat(state.isClosing()).isTrue();
    assertThat(state.beginClose(ClosingTime.of(Duration.ZERO))).isFalse();
    state.close();
    assertThat(state.phase()).isEqualTo(Phase.CLOSED);
    assertThat(state.isClosing()).isTrue();
    assertThat(state.beginClose(ClosingTime.of(Duration.ZERO))).isFalse();
    assertThat(state.failed()).isFalse();
  }

  @Test
  void aGroupThatIsClosingMayStillFail() {
    state.beginClose(ClosingTime.of(Duration.ZERO));
    assertThat(state.beginSettling()).isTrue();
    assertThat(state.isFailing()).isTrue();
    assertThat(state.notice(failure(Failure.Kind.EXCEPTION, 0), GroupStateTest::own)).isTrue();
    assertThat(state.fail(failure(Failure.Kind.EXCEPTION, 0))).isTrue();
    assertThat(state.phase()).isEqualTo(Phase.CLOSING);
    assertThat(state.failed()).isTrue();
    assertThatThrownBy(state::check).hasMessage("an operation threw");
  }

  @Test
  void aFailedGroupIsClosedWithWhatItHasFailedWith() {
    state.fail(failure(Failure.Kind.EXCEPTION, 2));
    assertThat(state.beginClose(ClosingTime.of(Duration.ZERO))).isTrue();
    assertThat(state.phase()).isEqualTo(Phase.CLOSING);
    state.close();
    assertThat(state.phase()).isEqualTo(Phase.CLOSED);
    assertThat(state.failed()).isTrue();
    assertThat(state.failure().rank()).isEqualTo(2);
  }

  @Test
  void whatIsNoticedAfterTheFailureChangesNothing() {
    state.fail(failure(Failure.Kind.TIMEOUT, 1));
    state.notice(failure(Failure.Kind.EXCEPTION, 2), null);
    assertThat(state.phase()).isEqualTo(Phase.FAILED);
    assertThat(state.isFailing()).isFalse();
    assertThat(state.failure().rank()).isEqualTo(1);
  }

  @Test
  void listenersHearOfTheFailureOnceWheneverTheyCome() {
    List<String> heard = new ArrayList<>();
    state.onFailure(() -> heard.add("before"));
    state.notice(failure(Failure.Kind.TIMEOUT, 1), null);
    assertThat(heard).isEmpty();
    state.fail(failure(Failure.Kind.TIMEOUT, 1));
    state.fail(failure(Failure.Kind.TIMEOUT, 1));
    state.onFailure(() -> heard.add("after"));
    assertThat(heard).containsExactly("before", "after");
  }

  @Test
  void whatAListenerThrowsKeepsNoOtherFromHearing() {
    List<String> heard = new ArrayList<>();
    state.onFailure(
        () -> {
          throw new OutOfMemoryError("of a listener");
        });
    state.onFailure(
        () -> {
          throw new IllegalStateException("of another");
        });
    state.onFailure(() -> heard.add("last"));
    assertThat(state.fail(failure(Failure.Kind.TIMEOUT, 1))).isTrue();
    assertThat(heard).containsExactly("last");
    state.onFailure(
        () -> {
          throw new IllegalStateException("of one that comes late");
        });
  }

  @RepeatedTest(20)
  void ofManyThreadsOneFailsTheGroupAndOneClosesIt() throws Exception {
    AtomicInteger failed = new AtomicInteger();
    AtomicInteger closed = new AtomicInteger();
    AtomicInteger heard = new AtomicInteger();
    try (Threads threads = new Threads()) {
      threads.runTogether(
          4,
          index -> {
            state.onFailure(heard::incrementAndGet);
            if (state.beginClose(ClosingTime.of(Duration.ZERO))) {
              closed.incrementAndGet();
            }
            state.notice(failure(Failure.Kind.KILLED, index % 3), null);
            if (state.fail(failure(Failure.Kind.EXCEPTION, index % 3))) {
              failed.incrementAndGet();
            }
            return null;
          });
    }
    assertThat(failed).hasValue(1);
    assertThat(closed).hasValue(1);
    assertThat(heard).hasValue(4);
    assertThat(state.phase()).isEqualTo(Phase.CLOSING);
    assertThat(IntStream.range(0, 3)).contains(state.failure().rank());
  }
}
