package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;

class StageTearDownTest {

  private static final StageAttempt STAGE = new StageAttempt(3, 0);

  private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);
  private final ConcurrentLinkedQueue<String> killed = new ConcurrentLinkedQueue<>();
  private final StageTearDown tearDown =
      new StageTearDown(
          (task, interrupt, reason) -> killed.add(task + " " + interrupt + " " + reason), executor);

  @AfterEach
  void stop() {
    executor.shutdownNow();
  }

  private void runDue() throws InterruptedException {
    executor.shutdown();
    assertThat(executor.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void eachTaskIsKilledOnceWithTheFirstReasonThatNamedIt() throws Exception {
    tearDown.begin(STAGE, List.of(7L, 8L), 0, "rank 1 is late");
    tearDown.begin(STAGE, List.of(8L, 9L), 1, "rank 1 has finished");
    tearDown.begin(STAGE, Set.of(7L), 0, "rank 0 is late");
    runDue();
    assertThat(killed)
        .containsExactlyInAnyOrder(
            "7 true Process group failed: rank 1 is late",
            "8 true Process group failed: rank 1 is late",
            "9 true Process group failed: rank 1 has finished");
  }

  @Test
  void aTaskHasTheTimeToEndByItselfThatItsRankAskedFor() {
    tearDown.begin(STAGE, List.of(7L), TimeUnit.SECONDS.toMillis(30), "rank 1 is late");
    assertThat(executor.getQueue()).hasSize(1);
    assertThat(killed).isEmpty();
  }

  @Test
  void noRankCanHaveTheDriverWaitForLong() {
    tearDown.begin(STAGE, List.of(7L), Long.MAX_VALUE, "rank 1 is late");
    Delayed kill = (Delayed) executor.getQueue().peek();
    assertThat(kill.getDelay(TimeUnit.SECONDS)).isLessThanOrEqualTo(60);
  }

  @Test
  void aTaskThatCannotBeKilledLeavesTheOthersNoBetterOff() throws Exception {
    StageTearDown failing =
        new StageTearDown(
            (task, interrupt, reason) -> {
              if (task == 7) {
                throw new IllegalStateException("the context was stopped");
              }
              return killed.add(Long.toString(task));
            },
            executor);
    failing.begin(STAGE, List.of(7L, 8L), -5, "rank 1 is late");
    runDue();
    assertThat(killed).containsExactly("8");
  }

  @Test
  void anotherAttemptOfTheStageIsTornDownForItself() throws Exception {
    tearDown.begin(STAGE, List.of(7L), 0, "rank 1 is late");
    tearDown.ended(STAGE);
    tearDown.begin(new StageAttempt(3, 1), List.of(12L), 0, "rank 2 is late");
    runDue();
    assertThat(killed).hasSize(2);
  }
}
