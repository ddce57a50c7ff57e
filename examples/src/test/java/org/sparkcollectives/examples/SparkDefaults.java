package org.sparkcollectives.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Settings of programs that tests start with the command that a user types. */
public final class SparkDefaults {

  /** Processes that live for a minute spend most of it in the second compiler and the collector. */
  private static final String SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

  private SparkDefaults() {}

  /**
   * Makes programs wait for their executors for as long as a busy machine takes to start them, and
   * compile no more than a short run needs.
   *
   * @param folder where the settings are written
   */
  public static void addTo(Map<String, String> environment, Path folder) throws IOException {
    Files.write(
        folder.resolve("spark-defaults.conf"),
        List.of(
            "spark.collectives.preflight.timeout 2min",
            "spark.driver.defaultJavaOptions " + SHORT_LIVED,
            "spark.executor.defaultJavaOptions " + SHORT_LIVED));
    environment.put("SPARK_CONF_DIR", folder.toAbsolutePath().toString());
  }
}
