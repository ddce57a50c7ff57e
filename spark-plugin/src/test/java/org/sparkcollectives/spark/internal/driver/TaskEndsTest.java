package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.spark.ExceptionFailure;
import org.apache.spark.ExecutorLostFailure;
import org.apache.spark.Success$;
import org.apache.spark.TaskEndReason;
import org.apache.spark.TaskKilled;
import org.apache.spark.TaskResultLost$;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.PeerFailedException;
import scala.Option;
import scala.collection.immutable.Nil$;

/** Tests what is reported to the others about a task that has ended without joining. */
class TaskEndsTest {

  private static Failure failure(TaskEndReason reason) {
    TaskInfo task = new TaskInfo(17, 2, 0, 2, 0, "5", "host-5", TaskLocality.ANY(), false);
    return TaskEnds.failure(new SparkListenerTaskEnd(3, 1, "ResultTask", reason, task, null, null));
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // An empty list is one of anything.
  private static ExceptionFailure thrown(Throwable cause) {
    return new ExceptionFailure(cause, (scala.collection.immutable.Seq) Nil$.MODULE$);
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static TaskKilled killed(String reason) {
    scala.collection.immutable.Seq none = Nil$.MODULE$;
    return new TaskKilled(reason, none, none, (scala.collection.immutable.Seq) Nil$.MODULE$);
  }

  @Test
  void theRankIsThePartitionAndItsPlaceIsTheTasks() {
    Failure failure = failure(Success$.MODULE$);
    assertThat(failure.where()).isEqualTo("rank 2 (host-5, executor 5, task 17)");
    assertThat(failure.kind()).isEqualTo(Failure.Kind.PEER_FINISHED);
    assertThat(failure.cause()).startsWith("its task returned without joining the group");
  }

  @Test
  void whatTheTaskThrewIsTheCauseWithItsStackTrace() {
    Failure failure = failure(thrown(new IllegalArgumentException("row 17 is broken")));
    assertThat(failure.kind()).isEqualTo(Failure.Kind.EXCEPTION);
    assertThat(failure.cause())
        .startsWith("java.lang.IllegalArgumentException: row 17 is broken")
        .contains("\tat " + TaskEndsTest.class.getName());
  }

  @Test
  void aTaskThatGoesWithItsExecutorOrIsKilledSaysSo() {
    Failure lost = failure(new ExecutorLostFailure("5", true, Option.apply("out of memory")));
    assertThat(lost.kind()).isEqualTo(Failure.Kind.EXECUTOR_LOST);
    assertThat(lost.cause()).contains("out of memory");
    assertThat(failure(killed("by hand")).kind()).isEqualTo(Failure.Kind.KILLED);
    assertThat(failure(killed("by hand")).cause()).contains("by hand");
    assertThat(failure(killed("Stage cancelled")).kind()).isEqualTo(Failure.Kind.STAGE_STOPPED);
    assertThat(failure(TaskResultLost$.MODULE$).kind()).isEqualTo(Failure.Kind.EXCEPTION);
  }

  @Test
  void aTaskThatFailsBecauseOfAnotherRankIsNotCalledTheCause() {
    Failure other = failure(Success$.MODULE$);
    assertThat(failure(thrown(new PeerFailedException("rank 2 has finished", other)))).isNull();
    assertThat(
            failure(
                thrown(
                    new IllegalStateException(
                        new CollectiveTimeoutException("late", "rendezvous", -1, List.of(0))))))
        .isNull();
  }

  @Test
  void aCauseOfMegabytesIsCut() {
    assertThat(failure(thrown(new IllegalStateException("x".repeat(1 << 20)))).cause())
        .hasSizeLessThan(1 << 17);
  }
}
