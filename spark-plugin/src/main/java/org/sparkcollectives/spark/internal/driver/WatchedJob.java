package org.sparkcollectives.spark.internal.driver;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.sparkcollectives.Failure;

/** A job of ranks, which may be submitted several times, and why each submission has failed. */
final class WatchedJob {

  /**
   * Spark notifies its listeners of the end of a job within milliseconds, unless they are behind.
   */
  private static final Duration END_OF_JOB = Duration.ofMinutes(2);

  /** The exception of the rank that failed first is on its way when those of others have come. */
  private static final Duration FIRST_EXCEPTION = Duration.ofSeconds(5);

  /** Why a submission has failed. */
  static final class Failed extends Exception {

    private static final long serialVersionUID = 1;

    private final transient Exception exception;
    private final Failure.Kind kind;

    private Failed(Exception exception, Failure.Kind kind) {
      super(exception);
      this.exception = exception;
      this.kind = kind;
    }

    /** Returns what to throw; if a rank has thrown, with its exception as cause. */
    Exception exception() {
      return exception;
    }

    /** Returns the kind of its first cause; null if no task failed by itself. */
    Failure.Kind kind() {
      return kind;
    }
  }

  private final SparkContext context;
  private final String call;

  /**
   * Creates a job that is not submitted yet.
   *
   * @param call the call that its ranks belong to
   */
  WatchedJob(SparkContext context, String call) {
    this.context = context;
    this.call = call;
  }

  /**
   * Submits the job, and returns its result. Blocks until it has ended.
   *
   * @param job runs on this thread
   * @throws CancellationException if {@code job} throws it
   */
  <R> R run(Callable<R> job) throws Failed {
    ThrownExceptions thrown = DriverStores.of(SparkEnv.get()).thrown();
    thrown.expect(call);
    JobFailures failures = new JobFailures();
    context.addSparkListener(failures);
    try {
      return submit(job, failures.token());
    } catch (CancellationException e) {
      throw e;
    } catch (Exception e) {
      Failure.Kind kind = cause(failures, e);
      throw new Failed(
          kind == Failure.Kind.EXCEPTION ? withFirstCause(e, failures, thrown) : e, kind);
    } finally {
      context.removeSparkListener(failures);
    }
  }

  private <R> R submit(Callable<R> job, String token) throws Exception {
    String before = context.getLocalProperty(JobFailures.PROPERTY);
    context.setLocalProperty(JobFailures.PROPERTY, token);
    try {
      return job.call();
    } finally {
      context.setLocalProperty(JobFailures.PROPERTY, before);
    }
  }

  private static Failure.Kind cause(JobFailures failures, Exception failure) throws Failed {
    try {
      return failures.await(END_OF_JOB);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Failed(failure, null);
    }
  }

  private Exception withFirstCause(
      Exception failure, JobFailures failures, ThrownExceptions thrown) {
    Throwable first = failures.thrown();
    if (first == null) {
      try {
        first = thrown.await(call, failures.attempt(), FIRST_EXCEPTION).orElse(null);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    return first == null ? failure : FirstCause.of(failure, first);
  }
}
