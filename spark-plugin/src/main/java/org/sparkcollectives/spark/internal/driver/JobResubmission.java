package org.sparkcollectives.spark.internal.driver;

import java.util.concurrent.Callable;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Submits a job of {@code BarrierStage} again when an executor was lost, but not when its program
 * is at fault. Then the job fails with what its rank has thrown, see {@link FirstCause}.
 */
public final class JobResubmission {

  private static final Logger LOG = LoggerFactory.getLogger(JobResubmission.class);

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
    WatchedJob watched = new WatchedJob(context, call);
    for (int again = 1; ; again++) {
      try {
        return watched.run(job);
      } catch (WatchedJob.Failed failed) {
        Exception e = failed.exception();
        if (again > most || !JobFailures.canBeMended(failed.kind())) {
          throw e;
        }
        LOG.warn(
            "The job is submitted again, {} of {} times, because {}", again, most, e.toString());
        await(beforeAgain, e);
      }
    }
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
