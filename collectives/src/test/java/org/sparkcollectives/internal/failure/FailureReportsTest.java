package org.sparkcollectives.internal.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.liveness.FakeTime;
import org.sparkcollectives.internal.liveness.HeartbeatElection;
import org.sparkcollectives.internal.liveness.RankHeartbeat;
import org.sparkcollectives.internal.liveness.RankHost;
import org.sparkcollectives.internal.liveness.Ranks;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.work.GroupMonitor;
import org.sparkcollectives.internal.work.StubWork;
import org.sparkcollectives.spi.failure.PublishedFailure;
import org.sparkcollectives.store.HashStore;

/**
 * Tests the record that each kind of noticed failure leaves, and the exception that the rank's
 * operations throw.
 */
class FailureReportsTest {

  private final HashStore store = new HashStore();
  private final FakeTime time = new FakeTime(Long.MAX_VALUE - 5);
  private final Ranks.Context context = new Ranks.Context();
  private final Membership members = Ranks.membership(0, 3);
  private final RankHost host = new RankHost(context, Runnable::run, time);
  private final RankHeartbeat none =
      new RankHeartbeat(members, store, false, new HeartbeatElection(), host);
  private final GroupMonitor monitor =
      new GroupMonitor(members, store, ErrorHandling.CLEAN_UP_ONLY, none, host);
  private final FailureReports reports = monitor.reports();

  @AfterEach
  void close() {
    monitor.close();
    store.close();
  }

  private Failure failure() {
    return monitor.state().failure();
  }

  private CollectiveException thrown() {
    return monitor.state().exceptionFor("op");
  }

  @Test
  void anAbortIsAnExceptionOfThisRank() {
    reports.abort(new IllegalStateException("enough"));
    assertThat(failure().kind()).isEqualTo(Failure.Kind.EXCEPTION);
    assertThat(failure().rank()).isZero();
    assertThat(thrown())
        .isInstanceOf(GroupAbortedException.class)
        .hasMessageContaining("because the group was aborted")
        .hasMessageContaining("enough");
  }

  @Test
  void anAbortOfAFailedGroupTellsNothing() {
    reports.unresponsive(1, "no heartbeat");
    reports.abort(new IllegalStateException("enough"));
    assertThat(new PublishedFailure(store).read().rank()).isEqualTo(1);
  }

  @Test
  void aKillIsOneOfThisRank() {
    reports.killed("by the user");
    assertThat(failure().kind()).isEqualTo(Failure.Kind.KILLED);
    assertThat(thrown()).hasMessageContaining("because the task was killed: by the user");
  }

  @Test
  void aKillWithTheStageIsWorthLessThanItsCause() {
    context.kill("the stage failed", true);
    reports.killed("the stage failed");
    assertThat(failure().kind()).isEqualTo(Failure.Kind.STAGE_STOPPED);
  }

  @Test
  void anInterruptIsAKill() {
    reports.check();
    reports.interrupted();
    assertThat(failure().kind()).isEqualTo(Failure.Kind.KILLED);
    assertThat(failure().cause()).contains("its thread was interrupted");
    assertThatThrownBy(reports::check).isInstanceOf(GroupAbortedException.class);
  }

  @Test
  void aBrokenPathNamesThePeer() {
    reports.pathBroken(2, new IllegalStateException("reset"));
    assertThat(failure().kind()).isEqualTo(Failure.Kind.CONNECTION_RESET);
    assertThat(failure().rank()).isEqualTo(2);
    assertThat(thrown()).isInstanceOf(PeerFailedException.class);
  }

  @Test
  void anUnresponsiveRankIsNamed() {
    reports.unresponsive(1, "no heartbeat");
    assertThat(failure().rank()).isEqualTo(1);
    assertThat(failure().cause()).isEqualTo("no heartbeat");
  }

  @Test
  void aRefusedMessageIsAMismatchOfThisRank() {
    reports.refused(new CollectiveMismatchException("rank 1 is in another", List.of()));
    assertThat(failure().kind()).isEqualTo(Failure.Kind.EXCEPTION);
    assertThat(failure().rank()).isZero();
    assertThat(thrown())
        .isInstanceOf(CollectiveMismatchException.class)
        .hasMessageContaining("rank 1 is in another");
  }

  @Test
  void aBackendThatFailsOutsideOfAnOperationFailsTheGroup() {
    reports.failed(new IllegalStateException("no device"));
    assertThat(failure().kind()).isEqualTo(Failure.Kind.EXCEPTION);
    assertThat(thrown()).hasMessageContaining("no device");
  }

  @Test
  void whatAnOperationThrewIsItsOwnFailure() {
    StubWork work = StubWork.begun(monitor, 7);
    Throwable thrown = reports.operationFailed(work, new IllegalStateException("bad value"));
    assertThat(thrown).isInstanceOf(CollectiveException.class).hasMessageContaining("bad value");
    assertThat(failure().kind()).isEqualTo(Failure.Kind.EXCEPTION);
    assertThat(failure().sequenceNumber()).isEqualTo(7);
    assertThat(failure().operation()).startsWith("barrier #7");
  }

  @Test
  void aTransportThatKnowsThePeerNamesIt() {
    StubWork work = StubWork.begun(monitor, 7);
    Throwable thrown =
        reports.operationFailed(work, new TransportException("reset", 1, "host-1:1", null));
    assertThat(thrown).isInstanceOf(PeerFailedException.class);
    assertThat(failure().rank()).isEqualTo(1);
  }

  @Test
  void whatAPeerOfAFailedGroupThrewIsNoFailureOfThisRank() {
    StubWork work = StubWork.begun(monitor, 7);
    PeerFailedException peer =
        new PeerFailedException(
            "it failed", members.identityOf(1).failure(Failure.Kind.EXCEPTION, "", -1, "thrown"));
    assertThat(reports.operationFailed(work, peer)).isSameAs(peer);
    assertThat(monitor.state().phase()).isEqualTo(GroupState.Phase.OPEN);
  }

  @Test
  void anOperationOfAFailedGroupThrowsWhatTheGroupFailedWith() {
    StubWork work = StubWork.begun(monitor, 7);
    reports.pathBroken(2, new IllegalStateException("reset"));
    assertThat(reports.operationFailed(work, new IllegalStateException("later")))
        .isInstanceOf(PeerFailedException.class);
    assertThat(failure().rank()).isEqualTo(2);
  }

  @Test
  void aPeerThatFinishedIsNamedWithTheOperationThatWaits() {
    StubWork work = StubWork.begun(monitor, 7);
    reports.peerFinished(work, 1);
    assertThat(failure().kind()).isEqualTo(Failure.Kind.PEER_FINISHED);
    assertThat(failure().rank()).isEqualTo(1);
    assertThat(failure().sequenceNumber()).isEqualTo(7);
  }

  @Test
  void aMessageThatDoesNotFitConcernsItsTwoRanksOnly() {
    StubWork work = StubWork.begun(monitor, 7);
    List<CollectiveCall> calls = List.of();
    reports.messageFailed(work, new CollectiveMismatchException("other sizes", calls));
    assertThat(work.exception())
        .isInstanceOf(CollectiveMismatchException.class)
        .hasMessageContaining("other sizes");
    assertThat(monitor.state().failed()).isFalse();
  }

  @Test
  void aKillIsToldOnceTheGroupHasFailedAlsoToWhoAsksLater() {
    AtomicInteger calls = new AtomicInteger();
    context.kill("by the user", false);
    monitor.poll();
    assertThat(failure().kind()).isEqualTo(Failure.Kind.KILLED);
    monitor.poll();
    monitor.onKilled(reason -> calls.incrementAndGet());
    monitor.poll();
    monitor.poll();
    assertThat(calls).hasValue(1);
  }

  @Test
  void aFailureTearsTheRankDownOnceWhereTheModeSaysSo() {
    reports.killed("by the user");
    assertThat(context.tornDown()).isEmpty();
    try (HashStore other = new HashStore();
        GroupMonitor strict =
            new GroupMonitor(members, other, ErrorHandling.TEAR_DOWN, none, host)) {
      strict.reports().killed("by the user");
      strict.reports().abort(new IllegalStateException("later"));
    }
    assertThat(context.tornDown()).hasSize(1);
    assertThat(context.tornDown().get(0)).startsWith("the task of group").endsWith("within PT1S");
  }
}
