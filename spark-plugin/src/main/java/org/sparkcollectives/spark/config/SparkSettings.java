package org.sparkcollectives.spark.config;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.SparkConf;
import org.sparkcollectives.config.ConfigEntry;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.config.UnknownSettings;
import org.sparkcollectives.spi.BackendRegistry;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.store.StoreConfiguration;
import scala.Tuple2;

/** Reads the settings of this library from those of Spark. */
public final class SparkSettings {

  private static final String PREFIX = "spark.collectives.";

  /** GPUs, which the driver may lack the jar of, and the estimators of Spark ML. */
  private static final Set<String> OF_OTHER_MODULES = Set.of(PREFIX + "gpu.", PREFIX + "ml.");

  private SparkSettings() {}

  /**
   * Warns of settings of this library in {@code conf} that nobody reads, see {@link
   * UnknownSettings}.
   */
  public static void warnOfUnknown(SparkConf conf) {
    UnknownSettings.warn(names(conf), known(), OF_OTHER_MODULES);
  }

  /** Returns what {@link #warnOfUnknown} says. */
  static List<String> unknown(SparkConf conf) {
    return UnknownSettings.of(names(conf), known(), OF_OTHER_MODULES);
  }

  private static List<ConfigEntry<?>> known() {
    List<ConfigEntry<?>> known = new ArrayList<>(CollectivesConfiguration.entries());
    known.addAll(StoreConfiguration.entries());
    known.addAll(SparkPluginConfiguration.entries());
    known.addAll(BackendRegistry.settings());
    return known;
  }

  private static List<String> names(SparkConf conf) {
    return Arrays.stream(conf.getAllWithPrefix(PREFIX)).map(each -> PREFIX + each._1()).toList();
  }

  /**
   * Returns the settings whose names begin with {@code spark.collectives.}, and those of Spark
   * itself that this library reads, as they are now.
   */
  public static Configuration of(SparkConf conf) {
    Map<String, String> settings = new HashMap<>();
    for (Tuple2<String, String> each : conf.getAllWithPrefix(PREFIX)) {
      settings.put(PREFIX + each._1(), each._2());
    }
    String retries = CollectivesConfiguration.PORT_MAX_RETRIES.key();
    if (conf.contains(retries)) {
      settings.put(retries, conf.get(retries));
    }
    return Configuration.of(settings);
  }
}
