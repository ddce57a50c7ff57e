package org.sparkcollectives.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Settings of programs that tests start with the command that a user types. */
public final class SparkDefaults {

  private SparkDefaults() {}

  /**
   * Makes programs wait for their executors for as long as a busy machine takes to start them.
   *
   * @param folder where the settings are written
   */
  public static void addTo(Map<String, String> environment, Path folder) throws IOException {
    Files.writeString(
        folder.resolve("spark-defaults.conf"), "spark.collectives.preflight.timeout 2min\n");
    environment.put("SPARK_CONF_DIR", folder.toAbsolutePath().toString());
  }
}
