package org.sparkcollectives.spark.internal.driver;

import java.time.Duration;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.sparkcollectives.Failure;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;

/**
 * Finds out why the tasks of a job failed, from all that Spark reports of them until the job has
 * ended. A local property of the thread that submits the job identifies it.
 *
 * <p>When Spark retries a stage, what its earlier attempts failed with has not ended the job, and
 * no longer counts.
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
  private StageAttempt attempt;
  private Failure.Kind firstCause;
  private Throwable thrown;

  /** Returns the property's value. */
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
    Failure.Kind kind = stages.contains(end.stageId()) ? TaskEnds.kind(end.reason()) : null;
    if (kind == null) {
      return;
    }
    StageAttempt of = new StageAttempt(end.stageId(), end.stageAttemptId());
    if (attempt != null && attempt.stageId() == of.stageId() && !attempt.equals(of)) {
      if (of.isBefore(attempt)) {
        return;
      }
      firstCause = null;
      thrown = null;
    }
    if (firstCause == null || kind.compareTo(firstCause) < 0) {
      firstCause = kind;
      attempt = of;
    }
    if (kind == Failure.Kind.EXCEPTION && thrown == null) {
      thrown = TaskEnds.ownException(end.reason());
    }
  }

  @Override
  public synchronized void onJobEnd(SparkListenerJobEnd end) {
    if (end.jobId() == job) {
      ended.countDown();
    }
  }

  /**
   * Returns the kind of failure that says most of the first cause. When the job has thrown, Spark's
   * event of its end is on its way; blocks until it has come, for {@code atMost}.
   *
   * @return null if no task failed by itself
   */
  Failure.Kind await(Duration atMost) throws InterruptedException {
    ended.await(atMost.toMillis(), TimeUnit.MILLISECONDS);
    synchronized (this) {
      return firstCause;
    }
  }

  /**
   * Returns the attempt of a stage that the first cause is of; null if no task failed by itself.
   */
  synchronized StageAttempt attempt() {
    return attempt;
  }

  /**
   * Returns the first exception that a rank has thrown itself, so far; null if there is none. Spark
   * may have killed the rank that failed first before it has reported.
   */
  synchronized Throwable thrown() {
    return thrown;
  }

  /**
   * Returns whether the same ranks may succeed the next time: a machine is lost by chance, but a
   * program throws the same exception again.
   *
   * @param kind null if no task failed by itself: trying again does not help then
   */
  static boolean canBeMended(Failure.Kind kind) {
    return MENDED_BY_TRYING_AGAIN.contains(kind);
  }
}
