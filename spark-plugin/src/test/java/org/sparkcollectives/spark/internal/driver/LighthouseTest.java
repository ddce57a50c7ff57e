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
import org.sparkcollectives.spark.internal.protocol.StateVersion;
import org.sparkcollectives.spi.failure.FailedRendezvous;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.Threads;

/** Tests who is in the next quorum. The last digit of an incarnation is the replica's number. */
class LighthouseTest {

  private static final String GROUP = "app/run-1";
  private static final StateVersion NONE = StateVersion.NONE;
  private static final Failure LOST =
      new Failure(
          Failure.Kind.EXECUTOR_LOST, new RankLocation(0, "host", "1", 7), "", -1, "it is gone");

  private final HashStore store = new HashStore();
  private final ReleasedReplicas released = new ReleasedReplicas();
  private final Lighthouse lighthouse = new Lighthouse(2, store, GROUP, 1, released);

  @AfterEach
  void close() {
    store.close();
  }

  private CompletableFuture<Quorum> begins(long incarnation) {
    lighthouse.began((int) (incarnation % 10), incarnation);
    return asks(incarnation, NONE);
  }

  private CompletableFuture<Quorum> asks(long incarnation, StateVersion version) {
    return asks(incarnation, version, false);
  }

  private CompletableFuture<Quorum> failedOnce(long incarnation, StateVersion version) {
    return asks(incarnation, version, true);
  }

  private CompletableFuture<Quorum> asks(
      long incarnation, StateVersion version, boolean failed, Long... unreachable) {
    return lighthouse.ask(
        incarnation,
        new QuorumRequest(
            "handle-" + incarnation, "weights", version, failed, Arrays.asList(unreachable)));
  }

  private void dies(long incarnation) {
    lighthouse.failed(incarnation, LOST, null);
  }

  private static List<Long> members(CompletableFuture<Quorum> quorum) {
    assertThat(quorum).isCompleted();
    return quorum.join().members().stream().map(Quorum.Member::incarnation).toList();
  }

  private static long id(CompletableFuture<Quorum> quorum) {
    assertThat(quorum).isCompleted();
    return quorum.join().id();
  }

  private static StateVersion at(long quorum, long step) {
    return new StateVersion(quorum, step);
  }

  @Test
  void theFirstQuorumWaitsForTheLeastNumberAndIsInTheOrderOfTheReplicas() {
    CompletableFuture<Quorum> second = begins(11);
    assertThat(second).isNotDone();
    assertThat(members(begins(10))).containsExactly(10L, 11L);
    assertThat(id(second)).isEqualTo(1);
    assertThat(second.join().receivers()).as("all begin with the same state").containsExactly(1);
  }

  @Test
  void theFirstQuorumWaitsForThoseThatHaveBegunUnlessTheyDie() {
    lighthouse.began(2, 12);
    lighthouse.began(3, 13);
    CompletableFuture<Quorum> first = begins(10);
    begins(11);
    assertThat(first).isNotDone();
    asks(12, NONE);
    assertThat(first).isNotDone();
    dies(13);
    assertThat(members(first)).containsExactly(10L, 11L, 12L);
    assertThat(store.listKeys()).isEmpty();
  }

  @Test
  void whoComesLaterWaitsUntilTheMembersAsk() {
    begins(10);
    begins(11);
    CompletableFuture<Quorum> later = begins(12);
    assertThat(later).isNotDone();
    assertThat(store.check(List.of(RunKeys.pending(1)))).as("the members are told").isTrue();
    asks(10, at(1, 5));
    assertThat(later).isNotDone();
    asks(11, at(1, 5));
    assertThat(members(later)).containsExactly(10L, 11L, 12L);
    assertThat(later.join().receivers()).containsExactly(2);
    assertThat(later.join().healed()).isEqualTo(at(1, 5));
    assertThat(store.listKeys()).isEmpty();
  }

  @Test
  void membersWaitForEachOtherButNotForTheDead() {
    begins(10);
    begins(11);
    begins(12);
    asks(10, at(1, 1));
    asks(11, at(1, 1));
    CompletableFuture<Quorum> first = failedOnce(10, at(2, 5));
    failedOnce(11, at(2, 5));
    assertThat(first).isNotDone();
    dies(12);
    assertThat(members(first)).containsExactly(10L, 11L);
    assertThat(id(first)).isEqualTo(3);
  }

  @Test
  void theDeathOfAMemberEndsTheMeetingOfTheOthers() {
    begins(10);
    assertThat(id(begins(11))).isEqualTo(1);
    dies(11);
    byte[] outcome = store.withPrefix(RunKeys.group(GROUP, 1)).get(FailedRendezvous.OUTCOME_KEY);
    Failure told = FailedRendezvous.decode(outcome);
    assertThat(told.rank()).isEqualTo(1);
    assertThat(told.cause()).isEqualTo("it is gone");
  }

  @Test
  void theNumberStaysWhileTheMembersAreTheSameAndTheirGroupIsOfUse() {
    begins(10);
    begins(11);
    asks(10, at(1, 5));
    assertThat(id(asks(11, at(1, 5)))).isEqualTo(1);
    failedOnce(10, at(1, 6));
    assertThat(id(asks(11, at(1, 6)))).isEqualTo(2);
  }

  @Test
  void whoDoesNotRespondIsLeftOutUntilItAsksAgain() {
    begins(10);
    begins(11);
    begins(12);
    asks(10, at(1, 1));
    asks(11, at(1, 1));
    asks(10, at(2, 5), true, 12L);
    CompletableFuture<Quorum> without = asks(11, at(2, 5), true, 12L);
    assertThat(members(without)).containsExactly(10L, 11L);
    CompletableFuture<Quorum> again = failedOnce(12, at(2, 5));
    assertThat(again).isNotDone();
    asks(10, at(3, 9));
    asks(11, at(3, 9));
    assertThat(members(again)).containsExactly(10L, 11L, 12L);
    assertThat(again.join().receivers()).containsExactly(2);
  }

  @Test
  void whoWasGivenUpTakesTheStateOfTheOthersEvenAtTheSameStep() {
    begins(10);
    begins(11);
    begins(12);
    asks(10, at(1, 1));
    asks(11, at(1, 1));
    // 12 alone committed step 6 of quorum 2, and then did not respond.
    asks(10, at(2, 5), true, 12L);
    asks(11, at(2, 5), true, 12L);
    CompletableFuture<Quorum> again = failedOnce(12, at(2, 6));
    asks(10, at(3, 6));
    asks(11, at(3, 6));
    assertThat(again.join().receivers()).containsExactly(2);
  }

  @Test
  void aMemberThatIsAStepAheadIsTheSource() {
    begins(10);
    begins(11);
    failedOnce(10, at(1, 5));
    CompletableFuture<Quorum> next = failedOnce(11, at(1, 6));
    assertThat(next.join().source()).isEqualTo(1);
    assertThat(next.join().receivers()).containsExactly(0);
    assertThat(next.join().healed()).isEqualTo(at(1, 6));
  }

  @Test
  void aReplicaThatSparkBeginsAgainTakesThePlaceOfTheOneBefore() throws Exception {
    begins(10);
    begins(11);
    CompletableFuture<Quorum> again = begins(21);
    failedOnce(10, at(1, 5));
    assertThat(members(again)).containsExactly(10L, 21L);
    assertThat(Threads.failure(asks(11, at(1, 5)))).hasMessageContaining("over");
  }

  @Test
  void aQuorumBelowTheLeastNumberWaitsForMore() {
    begins(10);
    begins(11);
    dies(11);
    CompletableFuture<Quorum> alone = failedOnce(10, at(1, 5));
    assertThat(alone).isNotDone();
    begins(21);
    assertThat(members(alone)).containsExactly(10L, 21L);
  }

  @Test
  void theRunFailsWhenAllThatHadTheStateAreLost() throws Exception {
    begins(10);
    begins(11);
    dies(10);
    dies(11);
    assertThat(Threads.failure(begins(20)))
        .hasMessageContaining("All replicas of app/run-1 that had its state were lost")
        .hasMessageContaining("withCheckpointInterval");
    assertThat(lighthouse.failure()).isCompleted();
  }

  @Test
  void aMemberThatFailsInTheFirstMeetingShowsThatThereIsNoStateToLose() {
    begins(10);
    begins(11);
    dies(11);
    failedOnce(10, NONE);
    assertThat(members(begins(21))).containsExactly(10L, 21L);
    assertThat(lighthouse.failure()).isNotDone();
  }

  @Test
  void aReplicaThatWasLeftWithHalfTheStateDoesNotBeginAnew() throws Exception {
    begins(10);
    begins(11);
    begins(12);
    asks(10, at(1, 5));
    asks(11, at(1, 5));
    dies(10);
    dies(11);
    assertThat(Threads.failure(failedOnce(12, NONE))).hasMessageContaining("lost");
  }

  @Test
  void whoDoesNotRespondIsWaitedForIfItAloneHasTheState() {
    begins(10);
    begins(11);
    dies(11);
    begins(21);
    failedOnce(10, at(1, 5));
    // 21 came late to the meeting with 10, and has received nothing.
    CompletableFuture<Quorum> next = asks(21, NONE, true, 10L);
    assertThat(next).isNotDone();
    assertThat(lighthouse.failure()).isNotDone();
    failedOnce(10, at(1, 5));
    assertThat(next.join().source()).isEqualTo(0);
    assertThat(next.join().receivers()).containsExactly(1);
  }

  @Test
  void theRunGoesOnFromTheNewestCompleteCheckpoint() {
    begins(10);
    begins(11);
    store.set(RunKeys.complete(at(1, 100)), new byte[0]);
    store.set(RunKeys.complete(at(1, 200)), new byte[0]);
    store.set(RunKeys.checkpoint(at(1, 300)) + 0, new byte[1]);
    dies(10);
    dies(11);
    begins(20);
    Quorum next = begins(21).join();
    assertThat(next.checkpoint()).isEqualTo(at(1, 200));
    assertThat(next.receivers()).containsExactly(1);
    assertThat(next.healed()).isEqualTo(at(2, 200));
    // A death in the meeting does not change that.
    dies(21);
    failedOnce(20, NONE);
    assertThat(begins(31).join().checkpoint()).isEqualTo(at(1, 200));
  }

  /** Quorum 2 is 10 and 11, which have left 12 behind at step 5. */
  private void leaveBehind12() {
    begins(10);
    begins(11);
    begins(12);
    asks(10, at(1, 5));
    asks(11, at(1, 5));
    asks(10, at(2, 5), true, 12L);
    assertThat(id(asks(11, at(2, 5), true, 12L))).isEqualTo(3);
  }

  @Test
  void whoWasLeftBehindDoesNotTakeTheRunBackWhileOthersHaveTheState() {
    leaveBehind12();
    CompletableFuture<Quorum> behind = failedOnce(12, at(2, 5));
    assertThat(behind).isNotDone();
    dies(11);
    assertThat(behind).as("10 runs").isNotDone();
    failedOnce(10, at(3, 900));
    assertThat(behind.join().healed()).isEqualTo(at(3, 900));
    // 12 does not meet 10, and says that it does not respond.
    CompletableFuture<Quorum> again = asks(12, at(2, 5), true, 10L);
    assertThat(again).isNotDone();
    failedOnce(10, at(3, 900));
    assertThat(again.join().source()).isEqualTo(0);
  }

  @Test
  void aCheckpointThatIsNewerThanWhoWasLeftBehindCounts() {
    leaveBehind12();
    store.set(RunKeys.complete(at(3, 500)), new byte[0]);
    dies(10);
    dies(11);
    failedOnce(12, at(2, 5));
    assertThat(begins(20).join().checkpoint()).isEqualTo(at(3, 500));
  }

  @Test
  void whoWasLeftBehindGoesOnIfNothingNewerIsThere() {
    leaveBehind12();
    dies(10);
    dies(11);
    failedOnce(12, at(2, 5));
    Quorum next = begins(20).join();
    assertThat(next.checkpoint()).isNull();
    assertThat(next.healed()).isEqualTo(at(2, 5));
  }

  @Test
  void aMemberIsEnoughWhereAnotherThatIsGoneHadCommittedAStepMore() {
    begins(10);
    begins(11);
    failedOnce(10, at(1, 5));
    assertThat(failedOnce(11, at(1, 6)).join().healed()).isEqualTo(at(1, 6));
    store.set(RunKeys.complete(at(1, 4)), new byte[0]);
    dies(11);
    failedOnce(10, at(1, 5));
    assertThat(begins(21).join().healed()).isEqualTo(at(1, 5));
  }

  @Test
  void whoAsksAgainAccusesOthersMeanwhile() {
    begins(10);
    begins(11);
    begins(12);
    asks(10, at(1, 1));
    asks(11, at(1, 1));
    CompletableFuture<Quorum> first = failedOnce(10, at(2, 5));
    failedOnce(11, at(2, 5));
    assertThat(first).isNotDone();
    CompletableFuture<Quorum> second = asks(10, at(2, 5), true, 11L, 12L);
    assertThat(first).isCancelled();
    assertThat(members(second)).containsExactly(10L, 11L);
  }

  @Test
  void anExceptionOfTheProgramFailsTheRun() throws Exception {
    begins(10);
    CompletableFuture<Quorum> other = begins(11);
    SparkException cause = new SparkException("replica 0 failed");
    lighthouse.failed(10, LOST, cause);
    assertThat(lighthouse.failure()).isCompletedWithValue(cause);
    assertThat(other).isCompleted();
    assertThat(Threads.failure(asks(11, at(1, 1)))).hasMessageContaining("replica 0 failed");
  }

  @Test
  void anExceptionOfATaskThatHasASuccessorFailsNothing() {
    begins(10);
    begins(20);
    lighthouse.failed(10, LOST, new SparkException("the store refuses it"));
    assertThat(lighthouse.failure()).isNotDone();
  }

  @Test
  void whoComesAfterOneHasReturnedIsToldThatTheRunIsOver() {
    begins(10);
    begins(11);
    CompletableFuture<Quorum> waits = begins(12);
    lighthouse.returned(10);
    assertThat(waits.join().isOver()).isTrue();
    assertThat(failedOnce(11, at(1, 5)).join().isOver()).isTrue();
    assertThat(begins(13).join().isOver()).isTrue();
  }

  @Test
  void whoIsToLeaveIsReleasedBetweenTwoStepsAndTheOthersGoOn() {
    begins(10);
    begins(11);
    lighthouse.leave(11);
    assertThat(store.check(List.of(RunKeys.pending(1)))).as("the members are told").isTrue();
    CompletableFuture<Quorum> leaves = asks(11, at(1, 5));
    assertThat(released.incarnations()).as("the other one is in a step").isEmpty();
    CompletableFuture<Quorum> stays = asks(10, at(1, 5));
    assertThat(released.incarnations()).containsExactly(11L);
    assertThat(leaves).isCancelled();
    assertThat(stays).as("waits for the replacement").isNotDone();
    assertThat(members(begins(21))).containsExactly(10L, 21L);
    assertThat(stays.join().healed()).isEqualTo(at(1, 5));
    assertThat(stays.join().receivers()).containsExactly(1);
    assertThat(store.listKeys()).isEmpty();
  }

  @Test
  void whoAloneHasTheStateStaysUntilAnotherHasReceivedIt() {
    begins(10);
    begins(11);
    dies(11);
    lighthouse.leave(10);
    CompletableFuture<Quorum> alone = failedOnce(10, at(1, 5));
    assertThat(alone).isNotDone();
    assertThat(members(begins(21))).containsExactly(10L, 21L);
    assertThat(released.incarnations()).isEmpty();
    assertThat(alone.join().source()).isZero();
    assertThat(store.check(List.of(RunKeys.pending(2)))).as("they ask after this step").isTrue();
    asks(21, at(2, 6));
    asks(10, at(2, 6));
    assertThat(released.incarnations()).containsExactly(10L);
  }

  @Test
  void ifAllAreToLeaveOneStaysUntilAnotherHasTheState() {
    begins(10);
    begins(11);
    lighthouse.leave(10);
    lighthouse.leave(11);
    asks(10, at(1, 5));
    CompletableFuture<Quorum> stays = asks(11, at(1, 6));
    assertThat(released.incarnations()).as("11 is a step ahead").containsExactly(10L);
    assertThat(stays).as("waits for the replacement").isNotDone();
    assertThat(members(begins(20))).containsExactly(20L, 11L);
    asks(11, at(2, 7));
    asks(20, at(2, 7));
    assertThat(released.incarnations()).containsExactly(10L, 11L);
  }

  @Test
  void whoAloneHasCommittedAStepIsNotReleasedWithIt() {
    begins(10);
    begins(11);
    lighthouse.leave(10);
    asks(10, at(1, 6));
    CompletableFuture<Quorum> behind = failedOnce(11, at(1, 5));
    assertThat(members(behind)).containsExactly(10L, 11L);
    assertThat(behind.join().healed()).isEqualTo(at(1, 6));
    asks(10, at(2, 7));
    asks(11, at(2, 7));
    assertThat(released.incarnations()).containsExactly(10L);
  }

  @Test
  void aCheckpointGoesToAllButItsReaderWhateverTheyHave() {
    Quorum quorum =
        new Quorum(
            3,
            List.of(
                new Quorum.Member(0, 10, request(at(1, 5))),
                new Quorum.Member(1, 11, request(at(1, 5)))),
            at(1, 500));
    assertThat(quorum.source()).isZero();
    assertThat(quorum.receivers()).containsExactly(1);
  }

  private static QuorumRequest request(StateVersion version) {
    return new QuorumRequest("handle", "weights", version, false, List.of());
  }
}
