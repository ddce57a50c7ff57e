package org.sparkcollectives.spark;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.config.ConfigEntry;

/** The settings that exist in Spark only. */
public final class SparkPluginConfiguration {

  /** See {@link SlotPreflight}. */
  public static final ConfigEntry<Duration> PREFLIGHT_TIMEOUT =
      ConfigEntry.duration("spark.collectives.preflight.timeout")
          .doc("How long `BarrierStage` waits for executors to register before it gives up.")
          .since("0.1.0")
          .check(value -> !value.isNegative(), "0 or more")
          .defaultsTo(Duration.ofSeconds(30));

  /** See {@link PythonTasks}. */
  public static final ConfigEntry<Boolean> PYTHON_ENABLED =
      ConfigEntry.bool("spark.collectives.python.enabled")
          .doc(
              "Whether Python workers of barrier tasks can have groups: the executor listens for"
                  + " them on the loopback address while such tasks run.")
          .since("0.1.0")
          .defaultsTo(true);

  private SparkPluginConfiguration() {}

  /** All of them, in the order of the documentation. */
  public static List<ConfigEntry<?>> entries() {
    return List.of(PREFLIGHT_TIMEOUT, PYTHON_ENABLED);
  }
}
