package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.ExceptionFailure;
import org.apache.spark.SparkException;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.spark.event.RunEnded;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import scala.Option;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/** Tests which ends of tasks fail a run, and what is posted of its end. */
class RunsTest {

  private static final long TASK = 17;
  private static final String PYTHON = "org.apache.spark.api.python.PythonException";
  private static final String FRAMES =
      "Traceback (most recent call last):\n  File \"worker.py\", line 1, in main\n    step()\n";

  private final TestDriver driver = new TestDriver("1g");
  private final Runs runs = driver.store().runs();
  private final String run = runs.begin(1);

  @AfterEach
  void close() {
    driver.close();
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // An empty list is one of anything.
  private void fails(String exception, String message) {
    driver.connect(new RunRequest(run, 0, new StageAttempt(3, 0), TASK, "host", "1"));
    Seq none = Nil$.MODULE$;
    ExceptionFailure thrown =
        new ExceptionFailure(
            exception, message, new StackTraceElement[0], "", Option.empty(), none, none, none);
    TaskInfo task = new TaskInfo(TASK, 0, 0, 0, 0, "1", "host", TaskLocality.ANY(), false);
    runs.taskEnded(new SparkListenerTaskEnd(3, 0, "ResultTask", thrown, task, null, null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark_collectives.errors.StoreError: task 17 is over",
        "spark_collectives.errors.StoreConnectionError: no answer\n\tat of.Java",
        "spark_collectives.errors.StoreTimeoutError: late\n SQLSTATE: 38000"
      })
  void whatTheStoreThrowsInPythonPassesAsItDoesInJava(String error) {
    fails(PYTHON, FRAMES + error);
    assertThat(runs.failure(run)).isNotDone();
  }

  @Test
  void whatTheProgramThrowsFailsTheRun() {
    fails(PYTHON, FRAMES + "ValueError: spark_collectives.errors.StoreError: not this");
    assertThat(runs.failure(run)).isCompleted();
  }

  @Test
  void anErrorThatAStoreErrorHasLedToIsTheProgramsOwn() {
    fails(
        PYTHON,
        FRAMES
            + "spark_collectives.errors.StoreError: over\n\nDuring handling of the above"
            + " exception, another exception occurred:\n\n"
            + FRAMES
            + "ValueError: mine");
    assertThat(runs.failure(run)).isCompleted();
  }

  @Test
  void whatTheStoreThrowsInJavaAndALostWorkerPass() {
    fails("org.sparkcollectives.store.StoreTimeoutException", "late");
    fails(SparkException.class.getName(), "Python worker exited unexpectedly (crashed)");
    assertThat(runs.failure(run)).isNotDone();
  }

  @Test
  void theEndOfARunSaysWithWhatItsJobsFailed() {
    List<SparkListenerEvent> posted = new ArrayList<>();
    runs.events().post(posted::add);
    runs.close(run, "Task 0 failed 1000 times");
    assertThat(posted)
        .singleElement()
        .isInstanceOfSatisfying(
            RunEnded.class,
            ended -> assertThat(ended.failure()).isEqualTo("Task 0 failed 1000 times"));
  }
}
