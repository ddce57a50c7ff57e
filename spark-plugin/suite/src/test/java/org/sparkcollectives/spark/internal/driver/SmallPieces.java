package org.sparkcollectives.spark.internal.driver;

import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Installs the driver's store before the library's own plugin does, so that also values that are
 * not very large travel in many pieces, and wait for their turn.
 */
public final class SmallPieces implements SparkPlugin {

  private static final DriverStore.Traffic TRAFFIC = new DriverStore.Traffic(64 << 10, 1 << 20);

  @Override
  public DriverPlugin driverPlugin() {
    return new DriverPlugin() {
      @Override
      public Map<String, String> init(SparkContext context, PluginContext plugin) {
        if (!DriverStores.install(context, TRAFFIC)) {
          throw new IllegalStateException("The store is there already");
        }
        return Map.of();
      }
    };
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return null;
  }
}
