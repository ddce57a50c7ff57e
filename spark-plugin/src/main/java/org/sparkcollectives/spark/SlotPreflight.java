package org.sparkcollectives.spark;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.sparkcollectives.config.Configuration;

/**
 * Makes sure, before a barrier stage is submitted, that all its tasks can run at the same time.
 *
 * <p>Spark checks that itself, but silently for ten minutes, in which nothing seems to happen.
 */
public final class SlotPreflight {

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private SlotPreflight() {}

  /**
   * Checks that there are slots for {@code partitions} tasks. While there are not, executors may
   * still be starting: waits for them as long as {@code spark.collectives.preflight.timeout} says.
   */
  static void check(SparkContext context, int partitions) {
    SparkConf conf = context.conf();
    if (conf.getBoolean("spark.dynamicAllocation.enabled", false)) {
      throw new IllegalStateException(
          "Barrier stages do not run with dynamic allocation (SPARK-24942). Set"
              + " spark.dynamicAllocation.enabled=false and spark.executor.instances to what the"
              + " ranks need");
    }
    Configuration configuration = TaskRank.settings(conf);
    Duration patience = configuration.get(SparkPluginConfiguration.PREFLIGHT_TIMEOUT);
    long start = System.nanoTime();
    while (slots(context) < partitions) {
      if (System.nanoTime() - start > patience.toNanos()
          || Thread.currentThread().isInterrupted()) {
        throw new IllegalStateException(arithmetic(context, partitions, patience));
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  private static int slots(SparkContext context) {
    return context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile());
  }

  private static String arithmetic(SparkContext context, int partitions, Duration patience) {
    int taskCpus = context.conf().getInt("spark.task.cpus", 1);
    int executors = Math.max(1, context.getExecutorMemoryStatus().size() - 1);
    int slots = slots(context);
    return "The barrier stage has "
        + partitions
        + " partitions, and each is a rank that needs a slot of its own at the same time; but after "
        + patience.toSeconds()
        + " s there are only "
        + slots
        + " slots: "
        + executors
        + (executors == 1 ? " executor" : " executors")
        + " ("
        + context.master()
        + "), "
        + taskCpus
        + (taskCpus == 1 ? " core" : " cores")
        + " for each task (spark.task.cpus). Repartition to at most "
        + slots
        + ", or give the application "
        + partitions * taskCpus
        + " cores (spark.executor.instances x spark.executor.cores)";
  }
}
