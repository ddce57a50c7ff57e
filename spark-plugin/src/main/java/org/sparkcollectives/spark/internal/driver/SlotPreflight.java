package org.sparkcollectives.spark.internal.driver;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spark.config.SparkSettings;
import org.sparkcollectives.store.Backoff;

/**
 * Checks, before a barrier stage is submitted, that Spark can run it, all tasks at the same time.
 *
 * <p>Spark checks the slots itself, but tries again for ten minutes, in which nothing seems to
 * happen: it says so in the driver's log alone, posts no event, and cancels no such job.
 */
public final class SlotPreflight {

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** What Spark asks YARN and Kubernetes for if {@code spark.executor.instances} is not set. */
  private static final int SPARK_DEFAULT_EXECUTORS = 2;

  private final RDD<?> rdd;
  private final SparkContext context;
  private final int partitions;
  private final StageResources resources;

  private SlotPreflight(RDD<?> rdd) {
    this.rdd = rdd;
    this.context = rdd.sparkContext();
    this.partitions = rdd.getNumPartitions();
    this.resources = StageResources.of(rdd);
  }

  /**
   * Checks that Spark runs such a stage at all, and that there are slots for the stage that
   * computes {@code rdd}. While slots are missing, executors may still be starting: waits for them
   * as long as {@code spark.collectives.preflight.timeout} says.
   */
  public static void check(RDD<?> rdd) {
    new SlotPreflight(rdd).check();
  }

  private void check() {
    StageChain.misfit(rdd)
        .ifPresent(
            reason -> {
              throw new IllegalStateException(reason);
            });
    if (hasDynamicAllocation()) {
      throw new IllegalStateException(dynamicAllocation().describe());
    }
    Configuration configuration = SparkSettings.of(context.conf());
    Duration patience = configuration.get(SparkPluginConfiguration.PREFLIGHT_TIMEOUT);
    Backoff backoff = Backoff.every(LOOK_NANOS);
    long start = System.nanoTime();
    for (int slots = resources.slots(); slots < partitions; slots = resources.slots()) {
      Duration waited = Duration.ofNanos(System.nanoTime() - start);
      if (waited.compareTo(patience) > 0 || Thread.currentThread().isInterrupted()) {
        throw new IllegalStateException(shortage(slots).describe(waited));
      }
      backoff.pause();
    }
  }

  /**
   * Checks that Spark runs barrier stages with as many tasks as {@code rdd} has partitions, in one
   * stage or several. Waits for no slots.
   *
   * @throws IllegalStateException if dynamic allocation is on, saying what to set instead
   */
  static void requireNoDynamicAllocation(RDD<?> rdd) {
    SlotPreflight preflight = new SlotPreflight(rdd);
    if (preflight.hasDynamicAllocation()) {
      throw new IllegalStateException(preflight.dynamicAllocation().describe());
    }
  }

  private boolean hasDynamicAllocation() {
    // Spark ignores the setting where the driver runs the tasks itself.
    return !context.isLocal()
        && context.conf().getBoolean("spark.dynamicAllocation.enabled", false);
  }

  private DynamicAllocation dynamicAllocation() {
    String master = context.master();
    return new DynamicAllocation(
        partitions,
        resources.taskCpus(),
        resources.ranksOfExecutor(),
        resources.executorCores(),
        master.startsWith("spark://") || master.startsWith("local-cluster"));
  }

  private SlotShortage shortage(int slots) {
    // The list includes the driver. If the driver runs the tasks itself, it is the only entry.
    int others = context.getExecutorMemoryStatus().size() - 1;
    int executors = context.isLocal() ? 1 : others;
    return new SlotShortage(
        partitions,
        slots,
        executors,
        executorsAsked(),
        context.master(),
        context.applicationId(),
        resources.demand(),
        resources.taskCpus());
  }

  /** Returns 0 where another setting says how many there are, such as {@code spark.cores.max}. */
  private int executorsAsked() {
    String master = context.master();
    return master.startsWith("k8s://") || master.startsWith("yarn")
        ? context.conf().getInt("spark.executor.instances", SPARK_DEFAULT_EXECUTORS)
        : 0;
  }
}
