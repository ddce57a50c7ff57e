package org.sparkcollectives.spark.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests Spark's reasons for killing a task, with texts that real tasks got. */
class KillReasonTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        // Spark 3.5
        "Stage cancelled",
        "Task ResultTask(0, 3) from barrier stage ResultStage 0 (collect at Jobs.scala:23) failed.",
        // Spark 4.2
        "Stage cancelled: Task ShuffleMapTask(2, 0) from barrier stage ShuffleMapStage 2"
            + " (repartition at StageRetrySuite.scala:67) failed.",
        "Stage cancelled: Job aborted due to stage failure: Could not recover from a failed"
            + " barrier ResultStage. Most recent failure reason: Stage failed because barrier task"
            + " ResultTask(0, 1) finished unsuccessfully."
      })
  void aTaskThatIsKilledWithItsStageIsNotTheCause(String reason) {
    assertThat(KillReason.isEndOfStage(reason)).isTrue();
  }

  @Test
  void aTaskThatIsKilledWithItsGroupIsNotTheCause() {
    String reason = KillReason.tearDown("the task of rank 0 failed, because rank 1 was lost");
    assertThat(reason).contains("the task of rank 0 failed, because rank 1 was lost");
    assertThat(KillReason.isEndOfStage(reason)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "no reason given",
        "another attempt succeeded",
        "killed via SparkContext.killTaskAttempt",
        "Stage cancelled: Job 3 cancelled part of cancelled job group to-cancel",
        "Executor heartbeat timed out"
      })
  void aTaskThatIsKilledForItselfOrByAUserIsTheCause(String reason) {
    assertThat(KillReason.isEndOfStage(reason)).isFalse();
  }
}
