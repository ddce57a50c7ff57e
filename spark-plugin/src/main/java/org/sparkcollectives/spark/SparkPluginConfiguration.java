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

  private SparkPluginConfiguration() {}

  /** All of them, in the order of the documentation. */
  public static List<ConfigEntry<?>> entries() {
    return List.of(PREFLIGHT_TIMEOUT);
  }
}
