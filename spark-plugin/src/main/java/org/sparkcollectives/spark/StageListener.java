package org.sparkcollectives.spark;

import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.StageInfo;

/** Tells the driver's store which stages are over, and when the application is. */
final class StageListener extends SparkListener {

  private final DriverStore store;
  private final Runnable onApplicationEnd;

  StageListener(DriverStore store, Runnable onApplicationEnd) {
    this.store = store;
    this.onApplicationEnd = onApplicationEnd;
  }

  @Override
  public void onStageCompleted(SparkListenerStageCompleted completed) {
    StageInfo info = completed.stageInfo();
    store.stageEnded(
        new StageAttempt(info.stageId(), info.attemptNumber()), info.failureReason().isDefined());
  }

  @Override
  public void onApplicationEnd(SparkListenerApplicationEnd end) {
    onApplicationEnd.run();
  }
}
