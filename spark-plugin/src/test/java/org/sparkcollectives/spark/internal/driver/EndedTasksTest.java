package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.Failure;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;

/** Which groups are told that a task has ended without them. */
class EndedTasksTest {

  private static final StageAttempt STAGE = new StageAttempt(3, 0);
  private static final StageAttempt RETRY = new StageAttempt(3, 1);
  private static final StageAttempt OTHER = new StageAttempt(4, 0);

  private final List<String> failed = new ArrayList<>();
  private final EndedTasks tasks =
      new EndedTasks(
          (stage, group, failure) ->
              failed.add(stage + " " + group + " rank " + failure.rank() + " " + failure.kind()));

  private static Failure ended(int rank, Failure.Kind kind) {
    return new Failure(kind, new RankLocation(rank, "host", "1", 100 + rank), "", -1, "it ended");
  }

  @Test
  void aGroupThatIsWaitedForIsFailedOnceWithTheTaskThatEndedFirst() {
    tasks.joins(STAGE, "world");
    tasks.joins(STAGE, "world");
    assertThat(failed).isEmpty();
    tasks.ended(STAGE, ended(1, Failure.Kind.PEER_FINISHED));
    tasks.ended(STAGE, ended(2, Failure.Kind.KILLED));
    assertThat(failed).containsExactly("stage 3.0 world rank 1 PEER_FINISHED");
  }

  @Test
  void aTaskThatEndsBeforeAnyRankHasAskedForItsGroupIsRemembered() {
    tasks.ended(STAGE, ended(1, Failure.Kind.EXCEPTION));
    assertThat(failed).isEmpty();
    tasks.joins(STAGE, "world");
    assertThat(failed).containsExactly("stage 3.0 world rank 1 EXCEPTION");
  }

  @Test
  void aGroupThatIsMadeIsNotFailedHoweverItWasClosedSince() {
    tasks.joins(STAGE, "world");
    tasks.joins(STAGE, "other");
    assertThat(tasks.isAwaited(STAGE, "world")).isTrue();
    tasks.made(STAGE, "world");
    assertThat(tasks.isAwaited(STAGE, "world")).isFalse();
    tasks.ended(STAGE, ended(1, Failure.Kind.PEER_FINISHED));
    assertThat(failed).containsExactly("stage 3.0 other rank 1 PEER_FINISHED");
  }

  @Test
  void groupsOfOtherStagesAndAttemptsAreLeftAlone() {
    tasks.joins(RETRY, "world");
    tasks.joins(OTHER, "world");
    tasks.ended(STAGE, ended(1, Failure.Kind.EXCEPTION));
    assertThat(failed).isEmpty();
    tasks.ended(OTHER, ended(0, Failure.Kind.EXECUTOR_LOST));
    assertThat(failed).containsExactly("stage 4.0 world rank 0 EXECUTOR_LOST");
  }

  @Test
  void aStageThatUsesNoGroupIsLeftAloneAndForgottenWhenItIsOver() {
    tasks.ended(STAGE, ended(0, Failure.Kind.PEER_FINISHED));
    tasks.ended(STAGE, ended(1, Failure.Kind.PEER_FINISHED));
    assertThat(tasks.size()).isEqualTo(1);
    tasks.over(STAGE);
    assertThat(tasks.size()).isZero();
    assertThat(failed).isEmpty();
  }

  @Test
  void ofManyStagesThatNobodyEndsOnlySoManyAreRemembered() {
    for (int stage = 0; stage < 5000; stage++) {
      tasks.ended(new StageAttempt(stage, 0), ended(0, Failure.Kind.PEER_FINISHED));
    }
    assertThat(tasks.size()).isLessThanOrEqualTo(1000);
    tasks.joins(new StageAttempt(4999, 0), "world");
    assertThat(failed).hasSize(1);
  }
}
