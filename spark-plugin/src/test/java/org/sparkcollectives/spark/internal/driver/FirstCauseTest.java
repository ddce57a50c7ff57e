package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkException;
import org.apache.spark.SparkThrowable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests with which exception a job fails, by what its rank has thrown. */
class FirstCauseTest {

  private final SparkException job = new SparkException("Job aborted: a stage could not recover");

  /** An error with a condition of Spark's. */
  private static final class Conditioned extends RuntimeException implements SparkThrowable {

    private static final long serialVersionUID = 1;

    private final String name;

    Conditioned(String name, Throwable cause) {
      super(name, cause);
      this.name = name;
    }

    @Override
    @SuppressWarnings("deprecation") // The name that Spark 3.5 has for the condition.
    public String getErrorClass() {
      return name;
    }

    @SuppressWarnings("MissingOverride") // Spark 3.5 has no such method.
    public String getCondition() {
      return name;
    }
  }

  @Test
  void whatARankThrowsIsTheCauseOfTheJobsOwnException() {
    Throwable thrown = new IllegalArgumentException("row 17 is broken");
    Exception failed = FirstCause.of(job, thrown);
    assertThat(failed)
        .isExactlyInstanceOf(SparkException.class)
        .hasMessage(job.getMessage())
        .hasCause(thrown);
    assertThat(failed.getStackTrace()).isEqualTo(job.getStackTrace());
  }

  @Test
  void anErrorThatCannotBeThrownAsAnExceptionIsACauseToo() {
    Error error = new OutOfMemoryError("no room for the rows");
    assertThat(FirstCause.of(job, error)).isInstanceOf(SparkException.class).hasCause(error);
  }

  @Test
  void anErrorWithAConditionIsThrownItselfWithWhatSparkSaysOfTheJob() {
    Conditioned error = new Conditioned("DIVIDE_BY_ZERO", null);
    assertThat(FirstCause.of(job, error)).isSameAs(error).hasSuppressedException(job);
  }

  @Test
  void anErrorWithAConditionIsFoundAmongCauses() {
    Conditioned error = new Conditioned("DIVIDE_BY_ZERO", new ArithmeticException());
    Throwable wrapped = new IllegalStateException(new SparkException("task failed", error));
    assertThat(FirstCause.of(job, wrapped)).isSameAs(error);
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"INTERNAL_ERROR", "INTERNAL_ERROR_SHUFFLE"})
  void anErrorOfSparksWithoutAConditionForUsersIsACause(String condition) {
    Conditioned error = new Conditioned(condition, null);
    assertThat(FirstCause.of(job, error)).isInstanceOf(SparkException.class).hasCause(error);
  }

  @Test
  void aJobThatHasACauseOrDidNotFailInSparkStaysAsItIs() {
    Throwable thrown = new Conditioned("DIVIDE_BY_ZERO", null);
    SparkException caused = new SparkException("Job aborted", new ArithmeticException());
    IllegalStateException other = new IllegalStateException("the context was stopped");
    assertThat(FirstCause.of(caused, thrown)).isSameAs(caused);
    assertThat(FirstCause.of(other, thrown)).isSameAs(other);
  }

  @Test
  void causesInACircleEnd() {
    Throwable first = new IllegalStateException("first");
    first.initCause(new IllegalStateException("second", first));
    assertThat(FirstCause.of(job, first)).hasCause(first);
  }
}
