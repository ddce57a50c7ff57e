package org.sparkcollectives.spark.config;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.sparkcollectives.config.Configuration;
import scala.Tuple2;

/** Reads the settings of this library from those of Spark. */
public final class SparkSettings {

  private static final String PREFIX = "spark.collectives.";

  private SparkSettings() {}

  /** Returns the settings whose names begin with {@code spark.collectives.}, as they are now. */
  public static Configuration of(SparkConf conf) {
    Map<String, String> settings = new HashMap<>();
    for (Tuple2<String, String> each : conf.getAllWithPrefix(PREFIX)) {
      settings.put(PREFIX + each._1(), each._2());
    }
    return Configuration.of(settings);
  }
}
