package org.sparkcollectives.internal.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.Failure;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.internal.failure.ClosingTime;
import org.sparkcollectives.internal.failure.GroupState;
import org.sparkcollectives.internal.liveness.FakeTime;
import org.sparkcollectives.internal.liveness.HeartbeatElection;
import org.sparkcollectives.internal.liveness.LeaveTracker;
import org.sparkcollectives.internal.liveness.ProgressInquiry;
import org.sparkcollectives.internal.liveness.RankHeartbeat;
import org.sparkcollectives.internal.liveness.RankHost;
import org.sparkcollectives.internal.liveness.RankProgress;
import org.sparkcollectives.internal.liveness.Ranks;
import org.sparkcollectives.internal.liveness.ThreadStack;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.HashStore;

/**
 * Tests the ends of an operation: it is done, late, waits in vain, is refused, or its group fails.
 */
class PendingWorkTest {

  private final HashStore store = new HashStore();
  private final FakeTime time = new FakeTime(Long.MAX_VALUE - 5);
  private final Membership members = Ranks.membership(0, 2);
  private final RankHost host = new RankHost(new Ranks.Context(), Runnable::run, time);
  private final RankHeartbeat none =
      new RankHeartbeat(members, store, false, new HeartbeatElection(), host);
  private GroupMonitor monitor;
  private RankProgress here = new RankProgress(3, 2, "barrier #3");
  private RankProgress there = new RankProgress(-1, -1, "");

  /** Rank 1, which has called nothing yet. */
  private ProgressInquiry other;

  private StubWork barrier;

  @BeforeEach
  void open() {
    monitor = new GroupMonitor(members, store, ErrorHandling.CLEAN_UP_ONLY, none, host);
    monitor.open(() -> here);
    other =
        new ProgressInquiry(
            store,
            Ranks.membership(1, 2),
            () -> new ThreadStack("thread \"task\" (RUNNABLE)\n\tat a.User.code(User.java:1)"),
            host);
    other.open(() -> there);
    barrier = StubWork.begun(monitor, 3);
  }

  @AfterEach
  void close() {
    other.close();
    monitor.close();
    store.close();
  }

  @Test
  void workIsPendingUntilItEndsOnce() {
    assertThat(monitor.hasPending()).isTrue();
    assertThat(barrier.isCompleted()).isFalse();
    barrier.complete(null);
    barrier.complete(new IllegalStateException("too late"));
    assertThat(monitor.hasPending()).isFalse();
    assertThat(barrier.isSuccess()).isTrue();
    assertThat(barrier.exception()).isNull();
    barrier.await();
    assertThat(barrier.await(Duration.ZERO)).isTrue();
  }

  @Test
  void awaitOfWorkThatGoesOnGivesUpAfterItsTime() {
    assertThat(barrier.await(Duration.ZERO)).isFalse();
    assertThat(barrier.isCompleted()).isFalse();
  }

  @Test
  void aFailureIsThrownToWhoAwaits() {
    barrier.complete(new IllegalStateException("bad"));
    assertThatThrownBy(barrier::await)
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("barrier #3 failed: java.lang.IllegalStateException: bad");
    assertThat(barrier.isSuccess()).isFalse();
  }

  @Test
  void aFutureCompletesWithTheWorkWheneverItWasAskedFor() {
    CompletableFuture<List<Tensor>> before = barrier.future();
    assertThat(before).isNotDone();
    barrier.complete(null);
    assertThat(before).isCompletedWithValue(List.of());
    assertThat(barrier.future()).isCompletedWithValue(List.of());
  }

  @Test
  void nothingHappensBeforeTheDeadline() {
    time.pass(StubWork.TIMEOUT);
    monitor.poll();
    assertThat(monitor.state().phase()).isEqualTo(GroupState.Phase.OPEN);
    assertThat(barrier.isCompleted()).isFalse();
  }

  @Test
  void overdueWorkFailsTheGroupAndNamesWhoHasNotArrivedAndWhereItIs() {
    time.pass(StubWork.TIMEOUT.plusNanos(1));
    monitor.poll();
    assertThat(monitor.state().failure().kind()).isEqualTo(Failure.Kind.TIMEOUT);
    assertThat(monitor.state().failure().rank()).isEqualTo(1);
    monitor.poll();
    assertThatThrownBy(barrier::await)
        .isInstanceOf(CollectiveTimeoutException.class)
        .hasMessageContaining("barrier #3 of group \"g\" on rank 0")
        .hasMessageContaining("timed out after 30.0 s: not arrived: rank 1")
        .hasMessageContaining("a.User.code");
    CollectiveTimeoutException thrown = (CollectiveTimeoutException) barrier.exception();
    assertThat(thrown.missingRanks()).containsExactly(1);
  }

  @Test
  void overdueWorkNamesTheConnectionsThatAnyRankHasNotMade() {
    here = here.connectingTo(List.of(1));
    there = new RankProgress(3, 2, "barrier #3").connectingTo(List.of(0));
    time.pass(StubWork.TIMEOUT.plusNanos(1));
    monitor.poll();
    monitor.poll();
    assertThatThrownBy(barrier::await)
        .isInstanceOf(CollectiveTimeoutException.class)
        .hasMessageContaining("all ranks have joined it; still connecting: rank 0")
        .hasMessageContaining(" to rank 1")
        .hasMessageContaining(" at 127.0.0.1:1; rank 1")
        .hasMessageContaining("spark.collectives.port")
        .hasMessageNotContaining("Raise");
  }

  @Test
  void anExtensionIsAddedToTheDeadline() {
    monitor.ephemeralTimeout().extend(Duration.ofSeconds(10));
    StubWork extended = StubWork.begun(monitor, 4);
    barrier.complete(null);
    time.pass(StubWork.TIMEOUT.plusSeconds(10));
    monitor.poll();
    assertThat(monitor.state().failed()).isFalse();
    time.pass(Duration.ofNanos(1));
    monitor.poll();
    assertThat(extended.exception()).isNull();
    monitor.poll();
    assertThat(extended.exception()).hasMessageContaining("timed out after 40.0 s");
  }

  @Test
  void workThatWaitsForARankThatHasLeftEndsInVain() {
    try (LeaveTracker peer = new LeaveTracker(store, Ranks.membership(1, 2), host)) {
      peer.leave(2, Deadline.after(Duration.ofMinutes(1)));
      monitor.poll();
      assertThat(monitor.state().failure().kind()).isEqualTo(Failure.Kind.PEER_FINISHED);
    }
  }

  @Test
  void workThatARankHasJoinedBeforeItLeftGoesOn() {
    try (LeaveTracker peer = new LeaveTracker(store, Ranks.membership(1, 2), host)) {
      peer.leave(3, Deadline.after(Duration.ofMinutes(1)));
      monitor.poll();
      assertThat(monitor.state().failed()).isFalse();
    }
  }

  @Test
  void aPollAfterTheFailureEndsWhatNoThreadRuns() {
    monitor.reports().pathBroken(1, new IllegalStateException("reset"));
    assertThat(barrier.isCompleted()).isFalse();
    monitor.poll();
    assertThat(barrier.exception()).isInstanceOf(PeerFailedException.class);
    assertThat(monitor.hasPending()).isFalse();
  }

  @Test
  void nothingBeginsInAGroupThatIsClosing() {
    monitor.state().beginClose(ClosingTime.of(Duration.ZERO));
    assertThatThrownBy(() -> StubWork.begun(monitor, 4))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is closed on rank 0");
    assertThat(monitor.hasPending()).isTrue();
    barrier.complete(null);
    assertThat(monitor.hasPending()).isFalse();
  }

  @Test
  void anUnresponsiveStoreFailsAGroupOnlyIfAnOperationHasWaitedAsLong() {
    Duration patience = Duration.ofSeconds(10);
    time.pass(patience);
    monitor.storeUnresponsive(patience, "nothing is heard");
    assertThat(monitor.state().failed()).isFalse();
    time.pass(Duration.ofNanos(1));
    monitor.storeUnresponsive(patience, "nothing is heard");
    assertThat(monitor.state().failed()).isTrue();
    assertThat(monitor.state().exceptionFor("op")).hasMessageContaining("nothing is heard");
  }
}
