package org.sparkcollectives.spark;

import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spark.config.SparkSettings;
import org.sparkcollectives.spark.internal.driver.DriverStores;
import org.sparkcollectives.spark.internal.metrics.StageAccumulators;
import org.sparkcollectives.spark.internal.python.PythonTasks;
import org.sparkcollectives.spark.internal.python.RankReports;

/**
 * Starts this library with the application: {@code
 * spark.plugins=org.sparkcollectives.spark.CollectivesPlugin}.
 *
 * <p>On the driver it installs the store in which ranks find each other, the tab "Collectives" and
 * the metrics, as {@link SparkCollectives#install} does in an application that already runs. On
 * executors it registers the metrics, and lets the Python workers of barrier tasks have groups.
 * Tasks in Java and Scala need nothing on the executor but the jar.
 */
public final class CollectivesPlugin implements SparkPlugin {

  private static final Logger LOG = LoggerFactory.getLogger(CollectivesPlugin.class);

  /** Creates the plugin; Spark calls this. */
  public CollectivesPlugin() {}

  @Override
  public DriverPlugin driverPlugin() {
    return new DriverPlugin() {

      /** Spark forgets accumulators that nobody holds. */
      private StageAccumulators accumulators;

      private Runnable endOfGroups = () -> {};

      @Override
      public Map<String, String> init(SparkContext context, PluginContext plugin) {
        LOG.info(
            "Spark Collectives {}",
            CollectivesPlugin.class.getPackage().getImplementationVersion());
        DriverStores.install(context);
        endOfGroups = DriverStores.endOfGroups(SparkEnv.get());
        if (!reportsStatistics(context)) {
          return Map.of();
        }
        try {
          accumulators = StageAccumulators.of(context);
          return Map.of(StageAccumulators.KEY, accumulators.encode());
        } catch (RuntimeException | LinkageError e) {
          LOG.warn("The pages of stages do not show what their ranks do", e);
          return Map.of();
        }
      }

      @Override
      public void shutdown() {
        endOfGroups.run();
      }

      @Override
      public void registerMetrics(String application, PluginContext plugin) {
        DriverStores.registerMetrics(SparkEnv.get(), plugin.metricRegistry());
      }

      @Override
      public Object receive(Object message) {
        if (message instanceof byte[] report) {
          RankReports.receive(report);
        }
        return null;
      }
    };
  }

  private static boolean reportsStatistics(SparkContext context) {
    return !SparkSettings.of(context.getConf())
        .get(SparkPluginConfiguration.STATISTICS_INTERVAL)
        .isZero();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new PythonTasks();
  }
}
