package org.sparkcollectives.spark.internal.executor;

import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.Timer;
import java.time.Duration;
import org.apache.spark.SparkEnv;
import org.sparkcollectives.net.ProcessCounters;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spark.config.SparkSettings;
import org.sparkcollectives.spark.internal.metrics.CollectivesMetrics;
import org.sparkcollectives.spark.internal.metrics.Figures;
import org.sparkcollectives.spark.internal.protocol.DriverThreads;
import org.sparkcollectives.spark.internal.protocol.ProcessStatistics;

/**
 * The statistics of the application whose tasks run in this JVM: who sends them to the driver, and
 * the executor's metrics. Thread-safe.
 */
public final class ExecutorStatistics {

  /** Times the messages to the driver's store, from the question to the answer. */
  static final Timer STORE_CALLS = new Timer();

  private static SparkEnv current;
  private static StatisticsSender sender;
  private static boolean published;

  private ExecutorStatistics() {}

  /** Registers this executor's metrics in the registry of a plugin. */
  public static synchronized void register(MetricRegistry registry) {
    published = true;
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
    return sender == null ? Figures.NONE.with(process()) : sender.figures();
  }

  /**
   * Returns the sender of an application; the first call for it creates it, and publishes the
   * executor's metrics, unless a plugin has done so.
   */
  static synchronized StatisticsSender of(SparkEnv env) {
    if (current != env) {
      Duration interval =
          SparkSettings.of(env.conf()).get(SparkPluginConfiguration.STATISTICS_INTERVAL);
      sender =
          new StatisticsSender(
              new StatisticsSender.Origin(
                  env.executorId(),
                  env.blockManager().blockManagerId().host(),
                  ExecutorStatistics::process),
              interval,
              DriverThreads.scheduler("collectives-statistics"));
      current = env;
      if (!published && !isDriver(env)) {
        published = true;
        MetricRegistry registry = new MetricRegistry();
        CollectivesMetrics.register(registry, ExecutorStatistics::figures, STORE_CALLS);
        CollectivesMetrics.publish(env, registry);
      }
    }
    return sender;
  }

  private static ProcessStatistics process() {
    return new ProcessStatistics(
        ProcessCounters.bytesSent(), ProcessCounters.connections(), ProcessCounters.sharedBytes());
  }
}
