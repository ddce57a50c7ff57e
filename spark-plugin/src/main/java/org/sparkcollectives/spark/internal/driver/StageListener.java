package org.sparkcollectives.spark.internal.driver;

import java.util.HashSet;
import java.util.Set;
import org.apache.spark.scheduler.JobSucceeded$;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.StageInfo;
import org.sparkcollectives.Failure;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import scala.collection.Iterable;
import scala.collection.Iterator;

/** Notifies the driver's store when tasks, stages and jobs end, and when the application does. */
final class StageListener extends SparkListener {

  /**
   * The name of the queue in which Spark delivers the events to this listener. It has its own queue
   * because ranks wait for some events, and a listener of the user may be slow.
   */
  static final String QUEUE = "collectives";

  private static final int STAGE_INFOS = 2;

  private final DriverStore store;
  private final Runnable onApplicationEnd;

  StageListener(DriverStore store, Runnable onApplicationEnd) {
    this.store = store;
    this.onApplicationEnd = onApplicationEnd;
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    // Spark has no information on a task whose executor it had given up before.
    if (end.taskInfo() == null) {
      return;
    }
    store.runs().taskEnded(end);
    Failure failure = TaskEnds.failure(end);
    if (failure != null) {
      store.clients().taskEnded(new StageAttempt(end.stageId(), end.stageAttemptId()), failure);
    }
  }

  @Override
  public void onStageCompleted(SparkListenerStageCompleted completed) {
    StageInfo info = completed.stageInfo();
    store.stageEnded(
        new StageAttempt(info.stageId(), info.attemptNumber()), info.failureReason().isDefined());
  }

  @Override
  public void onJobStart(SparkListenerJobStart start) {
    store.jobStarted(start.jobId(), stages(start));
  }

  /** Returns the stages of the job. */
  static Set<Integer> stages(SparkListenerJobStart start) {
    Set<Integer> stages = new HashSet<>();
    // Read by its position, because the method's type is another one in Scala 2.12.
    Iterator<?> infos = ((Iterable<?>) start.productElement(STAGE_INFOS)).iterator();
    while (infos.hasNext()) {
      stages.add(((StageInfo) infos.next()).stageId());
    }
    return stages;
  }

  @Override
  public void onJobEnd(SparkListenerJobEnd end) {
    store.jobEnded(end.jobId(), end.jobResult() == JobSucceeded$.MODULE$);
  }

  @Override
  public void onApplicationEnd(SparkListenerApplicationEnd end) {
    onApplicationEnd.run();
  }
}
