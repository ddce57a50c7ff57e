package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Properties;
import org.apache.spark.ExceptionFailure;
import org.apache.spark.ExecutorLostFailure;
import org.apache.spark.Success$;
import org.apache.spark.TaskEndReason;
import org.apache.spark.TaskKilled;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.Failure;
import org.sparkcollectives.Failure.Kind;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import scala.Option;
import scala.collection.immutable.$colon$colon;
import scala.collection.immutable.Nil$;

/** Tests what counts as a job's first cause, and after which a job is worth another attempt. */
class JobFailuresTest {

  @ParameterizedTest
  @EnumSource(names = {"EXECUTOR_LOST", "UNRESPONSIVE", "CONNECTION_RESET"})
  void aProcessOrConnectionThatIsLostMayNotBeLostTheNextTime(Kind kind) {
    assertThat(JobFailures.canBeMended(kind)).isTrue();
  }

  @ParameterizedTest
  @EnumSource(names = {"EXCEPTION", "KILLED", "PEER_FINISHED", "TIMEOUT", "STAGE_STOPPED"})
  void whatTheProgramDoesItDoesAgain(Kind kind) {
    assertThat(JobFailures.canBeMended(kind)).isFalse();
  }

  @Test
  void aJobOfWhichNoTaskFailedIsNotTriedAgain() {
    assertThat(TaskEnds.kind(Success$.MODULE$)).isNull();
    assertThat(JobFailures.canBeMended(null)).isFalse();
  }

  private static final int STAGE = 3;
  private final Throwable broken = new IllegalArgumentException("row 17 is broken");

  private final JobFailures failures = new JobFailures();

  @BeforeEach
  void beginAJobOfTwoStages() {
    Properties properties = new Properties();
    properties.setProperty(JobFailures.PROPERTY, failures.token());
    failures.onJobStart(
        new SparkListenerJobStart(7, 0, seq(stage(STAGE), stage(STAGE + 1)), properties));
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // Of Scala's types, the tests need lists only.
  private static <T> scala.collection.immutable.Seq<T> seq(Object... elements) {
    scala.collection.immutable.List list = Nil$.MODULE$;
    for (int i = elements.length - 1; i >= 0; i--) {
      list = new $colon$colon(elements[i], list);
    }
    return list;
  }

  private static StageInfo stage(int id) {
    return new StageInfo(
        id, 0, "", 2, seq(), seq(), "", new TaskMetrics(), seq(), Option.empty(), 0, false, 0);
  }

  private void end(int stage, int attempt, TaskEndReason reason) {
    TaskInfo task = new TaskInfo(17, 2, 0, 2, 0, "5", "host-5", TaskLocality.ANY(), false);
    failures.onTaskEnd(
        new SparkListenerTaskEnd(stage, attempt, "ResultTask", reason, task, null, null));
  }

  private static TaskEndReason thrown(Throwable exception) {
    return new ExceptionFailure(exception, seq());
  }

  private static TaskEndReason stopped() {
    return new TaskKilled("Stage cancelled", seq(), seq(), seq());
  }

  private static TaskEndReason becauseOf(Kind kind) {
    RankLocation other = new RankLocation(2, "host", "5", 17);
    return thrown(
        new PeerFailedException("rank 2 failed", new Failure(kind, other, "", -1, "its cause")));
  }

  private static TaskEndReason executorLost() {
    return new ExecutorLostFailure("5", true, Option.apply("out of memory"));
  }

  private Kind firstCause() throws InterruptedException {
    return failures.await(Duration.ZERO);
  }

  @Test
  void aRankThatFailsBecauseOfAnotherIsSeenFirstAndTellsTheKindOnly() throws InterruptedException {
    end(STAGE, 0, becauseOf(Kind.EXCEPTION));
    assertThat(firstCause()).isEqualTo(Kind.EXCEPTION);
    assertThat(failures.thrown()).isNull();
    assertThat(failures.attempt()).isEqualTo(new StageAttempt(STAGE, 0));
    end(STAGE, 0, thrown(broken));
    assertThat(failures.thrown()).isSameAs(broken);
  }

  @Test
  void aRankThatIsKilledBecauseOfAnotherIsNotTheCauseWheneverItEnds() throws InterruptedException {
    end(STAGE, 0, stopped());
    assertThat(firstCause()).isEqualTo(Kind.STAGE_STOPPED);
    end(STAGE, 0, thrown(broken));
    end(STAGE, 0, stopped());
    end(STAGE, 0, becauseOf(Kind.CONNECTION_RESET));
    assertThat(firstCause()).isEqualTo(Kind.EXCEPTION);
    assertThat(failures.thrown()).isSameAs(broken);
  }

  @Test
  void ofTwoRanksThatThrowTheFirstCounts() {
    end(STAGE, 0, thrown(broken));
    end(STAGE, 0, thrown(new IllegalStateException("second")));
    assertThat(failures.thrown()).isSameAs(broken);
  }

  @Test
  void anExceptionThatTheDriverCannotReadIsOneAllTheSame() throws InterruptedException {
    end(
        STAGE,
        0,
        new ExceptionFailure("Broken", "row 17", null, "", Option.empty(), seq(), seq(), seq()));
    assertThat(firstCause()).isEqualTo(Kind.EXCEPTION);
    assertThat(failures.thrown()).isNull();
  }

  @Test
  void whenTheStageIsRetriedTheLastAttemptCounts() throws InterruptedException {
    Throwable last = new IllegalStateException("the last attempt");
    end(STAGE, 0, thrown(new IllegalStateException("the first attempt")));
    end(STAGE, 1, stopped());
    assertThat(failures.thrown()).isNull();
    assertThat(firstCause()).isEqualTo(Kind.STAGE_STOPPED);
    end(STAGE, 1, thrown(last));
    end(STAGE, 0, thrown(new IllegalStateException("a late task of the first attempt")));
    assertThat(failures.thrown()).isSameAs(last);
    assertThat(failures.attempt()).isEqualTo(new StageAttempt(STAGE, 1));
  }

  /** Then the job may be submitted again, though a rank has thrown before. */
  @Test
  void anExecutorThatIsLostInTheLastAttemptIsTheCause() throws InterruptedException {
    end(STAGE, 0, thrown(broken));
    end(STAGE, 1, executorLost());
    assertThat(firstCause()).isEqualTo(Kind.EXECUTOR_LOST);
  }

  @Test
  void tasksOfAnotherStageThatEndWithTheJobChangeNothing() throws InterruptedException {
    end(STAGE, 1, thrown(broken));
    end(STAGE + 1, 0, stopped());
    end(STAGE + 2, 0, executorLost());
    assertThat(firstCause()).isEqualTo(Kind.EXCEPTION);
    assertThat(failures.thrown()).isSameAs(broken);
    assertThat(failures.attempt()).isEqualTo(new StageAttempt(STAGE, 1));
  }

  @Test
  void causesInACircleEnd() throws InterruptedException {
    Throwable first = new IllegalStateException("first");
    first.initCause(new IllegalStateException("second", first));
    end(STAGE, 0, thrown(first));
    assertThat(firstCause()).isEqualTo(Kind.EXCEPTION);
    assertThat(failures.thrown()).isSameAs(first);
  }
}
