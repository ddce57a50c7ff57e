package org.sparkcollectives.spark.internal.driver;

import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.TaskSchedulerImpl;

/**
 * The racks that Spark's scheduler knows: on YARN those of Hadoop's configuration, elsewhere none.
 */
record SchedulerTopology(SparkContext context) implements HostRacks.Topology {

  @Override
  public List<String> racks(List<String> hosts) {
    return context.taskScheduler() instanceof TaskSchedulerImpl scheduler
        ? hosts.stream().map(host -> scheduler.getRackForHost(host).getOrElse(() -> "")).toList()
        : hosts.stream().map(host -> "").toList();
  }
}
