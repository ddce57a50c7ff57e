package org.sparkcollectives.spark.internal.driver;

import java.util.Optional;
import org.apache.spark.SparkException;
import org.apache.spark.SparkThrowable;
import org.sparkcollectives.spi.failure.Causes;

/**
 * Gives the failure of a barrier stage its first cause, as Spark does for other stages; of a
 * barrier stage, Spark has the text of a cause only.
 *
 * <p>So an error of the user's data, such as a NaN that Spark's own checks find, comes to the
 * caller as the same exception as from a stage that is no barrier stage.
 */
final class FirstCause {

  private static final String INTERNAL = "INTERNAL_ERROR";

  private FirstCause() {}

  /**
   * Returns what is thrown instead of {@code job}: the error that has a condition of Spark's, if
   * there is one among {@code thrown} and its causes; else an exception with the text of {@code
   * job} and {@code thrown} as cause.
   *
   * @param job with which Spark has ended the job
   * @param thrown by the rank that failed first
   */
  static Exception of(Exception job, Throwable thrown) {
    if (!(job instanceof SparkException) || job.getCause() != null) {
      return job;
    }
    Optional<Exception> forUsers =
        Causes.of(thrown)
            .filter(Exception.class::isInstance)
            .map(Exception.class::cast)
            .filter(FirstCause::isForUsers)
            .findFirst();
    if (forUsers.isPresent()) {
      forUsers.get().addSuppressed(job);
      return forUsers.get();
    }
    SparkException complete = new SparkException(job.getMessage(), thrown);
    complete.setStackTrace(job.getStackTrace());
    return complete;
  }

  /** Returns whether Spark throws this error itself where it ends a stage. */
  @SuppressWarnings("deprecation") // The method that follows it is not in Spark 3.5.
  private static boolean isForUsers(Exception error) {
    if (!(error instanceof SparkThrowable spark)) {
      return false;
    }
    String condition = spark.getErrorClass();
    return condition != null && !condition.startsWith(INTERNAL);
  }
}
