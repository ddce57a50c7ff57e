package org.sparkcollectives.spark;

import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import org.apache.spark.scheduler.cluster.CoarseGrainedSchedulerBackend;
import scala.Option;

/** Announces the end of an executor, as masters do of spot instances. */
final class Decommission {

  private Decommission() {}

  /** Announces it; the executor ends when it has no task any more. */
  static void of(SparkContext context, String executor) {
    ((CoarseGrainedSchedulerBackend) context.schedulerBackend())
        .decommissionExecutor(
            executor, new ExecutorDecommissionInfo("reclaimed", Option.empty()), false, false);
  }
}
