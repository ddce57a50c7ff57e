package org.sparkcollectives.spark.internal.executor;

import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.net.ProcessCounters;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spark.config.SparkSettings;
import org.sparkcollectives.spark.internal.metrics.CollectivesMetrics;
import org.sparkcollectives.spark.internal.metrics.Figures;
import org.sparkcollectives.spark.internal.metrics.OperationTotals;
import org.sparkcollectives.spark.internal.metrics.StageAccumulators;
import org.sparkcollectives.spark.internal.protocol.DriverThreads;
import org.sparkcollectives.spark.internal.protocol.ProcessStatistics;

/**
 * The statistics of the application whose tasks run in this JVM: who sends them to the driver, and
 * the executor's metrics. Thread-safe.
 */
public final class ExecutorStatistics {

  /** Times the messages to the driver's store, from the question to the answer. */
  static final Timer STORE_CALLS = new Timer();

  private static final Logger LOG = LoggerFactory.getLogger(ExecutorStatistics.class);

  private static final PerEnvironment<SparkEnv, StatisticsSender> SENDER = new PerEnvironment<>();

  /** By task attempt. */
  private static final Map<Long, StageAccumulators> ACCUMULATORS = new ConcurrentHashMap<>();

  /** The accumulators as the driver has sent them; empty for none. */
  private static volatile String accumulators = "";

  private static boolean published;

  private ExecutorStatistics() {}

  /**
   * Registers this executor's metrics in the registry of a plugin.
   *
   * @param fromDriver the settings that the driver's plugin has sent
   */
  public static synchronized void register(
      MetricRegistry registry, Map<String, String> fromDriver) {
    published = true;
    accumulators = fromDriver.getOrDefault(StageAccumulators.KEY, "");
    // With a local master the driver's metrics have the same names.
    if (!isDriver(SparkEnv.get())) {
      CollectivesMetrics.register(registry, ExecutorStatistics::figures, STORE_CALLS);
    }
  }

  private static boolean isDriver(SparkEnv env) {
    // The block manager has no id yet while plugins start.
    return "driver".equals(env.executorId());
  }

  private static synchronized Figures figures() {
    StatisticsSender sender = SENDER.newest();
    return sender == null ? new Figures(OperationTotals.NONE, 0, process()) : sender.figures();
  }

  /**
   * Returns the sender of an application; the first call for it creates it, and publishes the
   * executor's metrics, unless a plugin has done so.
   */
  static synchronized StatisticsSender of(SparkEnv env) {
    return SENDER.get(env, () -> create(env));
  }

  private static StatisticsSender create(SparkEnv env) {
    Duration interval =
        SparkSettings.of(env.conf()).get(SparkPluginConfiguration.STATISTICS_INTERVAL);
    StatisticsSender sender =
        new StatisticsSender(
            new StatisticsSender.Origin(
                env.executorId(),
                env.blockManager().blockManagerId().host(),
                ExecutorStatistics::process),
            interval,
            DriverThreads.scheduler("collectives-statistics"));
    if (!published && !isDriver(env)) {
      published = true;
      MetricRegistry registry = new MetricRegistry();
      CollectivesMetrics.register(registry, ExecutorStatistics::figures, STORE_CALLS);
      CollectivesMetrics.publish(env, registry);
    }
    return sender;
  }

  /** Begins to show on the page of its stage what a barrier task does. Called on its thread. */
  public static void begin(TaskContext task) {
    if (accumulators.isEmpty()) {
      return;
    }
    try {
      StageAccumulators own = StageAccumulators.decode(accumulators);
      ACCUMULATORS.put(task.taskAttemptId(), own);
      // The next application counts its task attempts from zero, too.
      TaskCompletionListener onEnd = ended -> ACCUMULATORS.remove(ended.taskAttemptId(), own);
      task.addTaskCompletionListener(onEnd);
    } catch (RuntimeException e) {
      LOG.warn("The page of the stage does not show what task {} does", task.taskAttemptId(), e);
    }
  }

  /** Returns the accumulators of a task, if it has some. */
  static Optional<StageAccumulators> accumulators(long taskAttemptId) {
    return Optional.ofNullable(ACCUMULATORS.get(taskAttemptId));
  }

  private static ProcessStatistics process() {
    return new ProcessStatistics(
        ProcessCounters.bytesSent(), ProcessCounters.connections(), ProcessCounters.sharedBytes());
  }
}
