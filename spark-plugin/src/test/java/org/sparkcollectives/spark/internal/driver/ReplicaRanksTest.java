package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.SparkException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.Failure;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.spark.internal.protocol.Quorum;
import org.sparkcollectives.spark.internal.protocol.QuorumRequest;
import org.sparkcollectives.spark.internal.protocol.RunKeys;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spark.internal.protocol.StateVersion;
import org.sparkcollectives.spi.failure.FailedRendezvous;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.Threads;

/**
 * Tests what the lighthouse learns of two ranks, and what they learn. The digits of a task are its
 * stage, its replica and its rank: 101 is rank 1 of replica 0 in stage 1. Spark counts tasks from
 * 0.
 */
class ReplicaRanksTest {

  private static final String GROUP = "app/run-1";
  private static final StateVersion NONE = StateVersion.NONE;
  private static final Failure LOST =
      new Failure(
          Failure.Kind.EXECUTOR_LOST, new RankLocation(0, "host", "1", 7), "", -1, "it is gone");

  private final HashStore store = new HashStore();
  private final ReleasedReplicas released = new ReleasedReplicas();
  private final ReplicaRanks ranks =
      new ReplicaRanks(new Lighthouse(2, store, GROUP, 2, released), 2);

  @AfterEach
  void close() {
    store.close();
  }

  private void begins(long... tasks) {
    for (long task : tasks) {
      int replica = (int) (task / 10 % 10);
      StageAttempt stage = new StageAttempt((int) (task / 100), 0);
      ranks.began(new RunRequest("1", replica, (int) (task % 10), stage, task, "host", "1"));
    }
  }

  private CompletableFuture<Quorum> asks(
      long task, StateVersion version, boolean failed, Long... unreachable) {
    return ranks.ask(
        task,
        new QuorumRequest(
            "handle-" + task, "shard-" + task % 10, version, failed, Arrays.asList(unreachable)));
  }

  private CompletableFuture<Quorum> asks(long task) {
    return asks(task, NONE, false);
  }

  /** Lets two replicas begin, and form the first quorum. */
  private void beginTwo() {
    begins(0, 1, 110, 111);
    asks(0);
    asks(1);
    asks(110);
    assertThat(id(asks(111))).isEqualTo(1);
  }

  private static List<Long> members(CompletableFuture<Quorum> quorum) {
    assertThat(quorum).isCompleted();
    return quorum.join().members().stream().map(Quorum.Member::incarnation).toList();
  }

  private static long id(CompletableFuture<Quorum> quorum) {
    assertThat(quorum).isCompleted();
    return quorum.join().id();
  }

  @Test
  void aReplicaAsksOnceAllItsRanksHaveAndEachSeesItsOwnRankOfTheOthers() {
    begins(1, 0, 110, 111);
    CompletableFuture<Quorum> first = asks(0);
    asks(110);
    CompletableFuture<Quorum> last = asks(111);
    assertThat(first).isNotDone();
    CompletableFuture<Quorum> second = asks(1);

    assertThat(members(first)).containsExactly(0L, 110L);
    assertThat(members(second)).containsExactly(1L, 111L);
    assertThat(id(last)).isEqualTo(1);
    QuorumRequest other = second.join().members().get(1).request();
    assertThat(other.handle()).isEqualTo("handle-111");
    assertThat(other.layout()).isEqualTo("shard-1");
    assertThat(ranks.steps(0)).isZero();
    assertThat(ranks.steps(2)).as("in no quorum").isEqualTo(-1);
  }

  @Test
  void aFailedAttemptOfOneRankIsOneOfTheReplica() {
    beginTwo();
    StateVersion version = new StateVersion(1, 5);
    asks(0, version, false);
    asks(1, version, true);
    asks(110, version, false);
    assertThat(id(asks(111, version, false))).isEqualTo(2);
  }

  @Test
  void ranksOfWhichOneHasReceivedAStateHaveNone() {
    beginTwo();
    asks(0, new StateVersion(1, 5), true);
    asks(1, new StateVersion(1, 5), true);
    asks(110, new StateVersion(1, 5), true);
    CompletableFuture<Quorum> answer = asks(111, NONE, true);
    assertThat(answer.join().source()).isZero();
    assertThat(answer.join().receivers()).containsExactly(1);
    assertThat(answer.join().healed()).isEqualTo(new StateVersion(1, 5));
  }

  @Test
  void whatOneRankDoesNotReachIsAReplica() {
    beginTwo();
    begins(220, 221);
    asks(220);
    asks(221);
    StateVersion version = new StateVersion(1, 5);
    asks(0, version, true);
    CompletableFuture<Quorum> answer = asks(1, version, true, 111L);
    assertThat(members(answer)).containsExactly(1L, 221L);
  }

  @Test
  void aRankThatAsksAgainReplacesItsQuestion() {
    begins(0, 1, 110, 111);
    CompletableFuture<Quorum> before = asks(0);
    CompletableFuture<Quorum> first = asks(0);
    assertThat(before).isCancelled();
    CompletableFuture<Quorum> second = asks(1);
    CompletableFuture<Quorum> again = asks(0);
    assertThat(first).isCancelled();
    assertThat(second).as("it is still waited for").isNotDone();
    asks(110);
    asks(111);
    assertThat(members(again)).containsExactly(0L, 110L);
    assertThat(members(second)).containsExactly(1L, 111L);
  }

  @Test
  void aLostRankEndsItsReplicaAndTheMeetingsOfAllRanks() throws Exception {
    beginTwo();
    CompletableFuture<Quorum> other = asks(110, new StateVersion(1, 5), true);
    ranks.failed(111, LOST, new SparkException("of one rank alone"));
    assertThat(other).isCancelled();
    assertThat(ranks.isRunning(1)).isFalse();
    assertThat(Threads.failure(asks(110)).getMessage()).contains("Task 110 is over");
    assertThat(ranks.failure()).isNotDone();
    for (int rank = 0; rank < 2; rank++) {
      String group = RunKeys.group(RunKeys.replicas(GROUP, rank, 2), 1);
      byte[] outcome = store.withPrefix(group).get(FailedRendezvous.OUTCOME_KEY);
      assertThat(FailedRendezvous.decode(outcome).rank()).isEqualTo(1);
    }
  }

  @Test
  void theNextIncarnationTakesThePlaceOfTheOneBeforeWithItsLastRank() throws Exception {
    beginTwo();
    begins(211);
    asks(0, new StateVersion(1, 5), true);
    CompletableFuture<Quorum> survivor = asks(1, new StateVersion(1, 5), true);
    assertThat(survivor).isNotDone();
    begins(210);
    assertThat(survivor).as("it waits for two replicas").isNotDone();
    assertThat(Threads.failure(asks(110)).getMessage()).contains("is over");
    asks(210);
    CompletableFuture<Quorum> next = asks(211);
    assertThat(members(next)).containsExactly(1L, 211L);
    assertThat(next.join().receivers()).containsExactly(1);
  }

  @Test
  void theRunIsOverWhenAllRanksOfAReplicaHaveReturned() {
    beginTwo();
    asks(110, new StateVersion(1, 5), false);
    CompletableFuture<Quorum> late = asks(111, new StateVersion(1, 5), false);
    ranks.returned(0);
    assertThat(late).isNotDone();
    ranks.returned(1);
    assertThat(late.join().isOver()).isTrue();
  }

  @Test
  void theEndOfTheRunCancelsARankWhoseOthersHaveNotAsked() {
    beginTwo();
    CompletableFuture<Quorum> alone = asks(0);
    ranks.close();
    assertThat(alone).isCancelled();
  }

  @Test
  void aReplicaLeavesIfTheExecutorOfOneOfItsRanksWillEnd() {
    beginTwo();
    ranks.leave(111);
    asks(110, new StateVersion(1, 5), false);
    CompletableFuture<Quorum> leaves = asks(111, new StateVersion(1, 5), false);
    CompletableFuture<Quorum> stays = asks(0, new StateVersion(1, 5), false);
    assertThat(released.incarnations()).isEmpty();
    asks(1, new StateVersion(1, 5), false);
    assertThat(released.incarnations()).containsExactly(110L);
    assertThat(leaves).isCancelled();
    assertThat(stays).as("waits for the replacement").isNotDone();
  }
}
