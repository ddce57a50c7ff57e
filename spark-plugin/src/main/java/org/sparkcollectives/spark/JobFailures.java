package org.sparkcollectives.spark;

import java.time.Duration;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.ExceptionFailure;
import org.apache.spark.ExecutorLostFailure;
import org.apache.spark.TaskEndReason;
import org.apache.spark.TaskKilled;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.PeerFailedException;

/**
 * Why the tasks of a job failed, of all that Spark tells of them until the job has ended. The job
 * is known by a local property of the thread that submits it.
 */
final class JobFailures extends SparkListener {

  /** The local property. */
  static final String PROPERTY = "spark.collectives.job";

  private static final Set<Failure.Kind> MENDED_BY_TRYING_AGAIN =
      EnumSet.of(
          Failure.Kind.EXECUTOR_LOST, Failure.Kind.UNRESPONSIVE, Failure.Kind.CONNECTION_RESET);

  private final String token = UUID.randomUUID().toString();
  private final Set<Integer> stages = new HashSet<>();
  private final CountDownLatch ended = new CountDownLatch(1);
  private int job = -1;
  private Failure.Kind firstCause;

  /** The property's value. */
  String token() {
    return token;
  }

  @Override
  public synchronized void onJobStart(SparkListenerJobStart start) {
    Properties properties = start.properties();
    if (properties != null && token.equals(properties.getProperty(PROPERTY))) {
      job = start.jobId();
      stages.addAll(StageListener.stages(start));
    }
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
    Failure.Kind kind = stages.contains(end.stageId()) ? kind(end.reason()) : null;
    if (kind != null && (firstCause == null || kind.compareTo(firstCause) < 0)) {
      firstCause = kind;
    }
  }

  @Override
  public synchronized void onJobEnd(SparkListenerJobEnd end) {
    if (end.jobId() == job) {
      ended.countDown();
    }
  }

  /**
   * What tells most of the first cause. Blocks until Spark's event of the end of the job has come,
   * which is on its way when the job has thrown, for {@code atMost}.
   *
   * @return null if no task failed by itself
   */
  Failure.Kind await(Duration atMost) throws InterruptedException {
    ended.await(atMost.toMillis(), TimeUnit.MILLISECONDS);
    synchronized (this) {
      return firstCause;
    }
  }

  /** What became of a task; null for one that has succeeded. */
  static Failure.Kind kind(TaskEndReason reason) {
    if (reason instanceof ExecutorLostFailure) {
      return Failure.Kind.EXECUTOR_LOST;
    }
    if (reason instanceof TaskKilled killed) {
      return KillReason.isEndOfStage(killed.reason())
          ? Failure.Kind.STAGE_STOPPED
          : Failure.Kind.KILLED;
    }
    if (reason instanceof ExceptionFailure failed) {
      return kindOfThrown(failed.exception().getOrElse(() -> null));
    }
    return null;
  }

  /** What a rank threw may be a consequence of what became of another, and may be wrapped. */
  private static Failure.Kind kindOfThrown(Throwable thrown) {
    for (Throwable each = thrown; each != null; each = each.getCause()) {
      if (each instanceof PeerFailedException failed) {
        return failed.failure().kind();
      }
      if (each instanceof CollectiveTimeoutException) {
        return Failure.Kind.TIMEOUT;
      }
    }
    return Failure.Kind.EXCEPTION;
  }

  /**
   * Whether the same ranks may do better the next time: a machine is lost by chance, what a program
   * throws it throws again.
   *
   * @param kind null if no task failed by itself, which nobody mends by trying again
   */
  static boolean canBeMended(Failure.Kind kind) {
    return MENDED_BY_TRYING_AGAIN.contains(kind);
  }
}
