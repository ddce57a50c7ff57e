package org.sparkcollectives.spark.internal.driver;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.Failure;

/**
 * Submits a job of {@code BarrierStage} again when an executor was lost, but not when its program
 * is at fault. Then the job fails with what its rank has thrown, see {@link FirstCause}.
 */
public final class JobResubmission {

  /**
   * Spark notifies its listeners of the end of a job within milliseconds, unless they are behind.
   */
  private static final Duration END_OF_JOB = Duration.ofSeconds(10);

  private static final Logger LOG = LoggerFactory.getLogger(JobResubmission.class);

  /** The exception of the rank that failed first is on its way when those of others have come. */
  private static final Duration FIRST_EXCEPTION = Duration.ofSeconds(5);

  private final SparkContext context;
  private final String call;
  private final int most;

  /**
   * Creates the resubmission.
   *
   * @param call the call of {@code BarrierStage}
   * @param most how often the job may be submitted again
   */
  public JobResubmission(SparkContext context, String call, int most) {
    this.context = context;
    this.call = call;
    this.most = most;
  }

  /**
   * Runs a job. Blocks until it, or one of its repetitions, has ended.
   *
   * @param job runs on this thread
   * @param beforeAgain waits until the job may succeed, or throws
   */
  public <R> R run(Callable<R> job, Runnable beforeAgain) throws Exception {
    ThrownExceptions thrown = DriverStores.of(SparkEnv.get()).thrown();
    for (int again = 1; ; again++) {
      thrown.expect(call);
      JobFailures failures = new JobFailures();
      context.addSparkListener(failures);
      try {
        return submit(job, failures.token());
      } catch (Exception e) {
        Failure.Kind kind = cause(failures, e);
        if (again > most || !JobFailures.canBeMended(kind)) {
          throw kind == Failure.Kind.EXCEPTION ? withFirstCause(e, failures, thrown) : e;
        }
        LOG.warn(
            "The job is submitted again, {} of {} times, because {}", again, most, e.toString());
        await(beforeAgain, e);
      } finally {
        context.removeSparkListener(failures);
      }
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

  private static Failure.Kind cause(JobFailures failures, Exception failure) throws Exception {
    try {
      return failures.await(END_OF_JOB);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failure;
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

  private static void await(Runnable beforeAgain, Exception failure) throws Exception {
    try {
      beforeAgain.run();
    } catch (IllegalStateException e) {
      failure.addSuppressed(e);
      throw failure;
    }
  }
}
