package org.sparkcollectives.spark.config;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.config.ConfigEntry;

/** The settings that exist in Spark only. */
public final class SparkPluginConfiguration {

  /** How long a barrier stage waits for executors before it is submitted. */
  public static final ConfigEntry<Duration> PREFLIGHT_TIMEOUT =
      ConfigEntry.duration("spark.collectives.preflight.timeout")
          .doc(
              "How long `BarrierStage`, `requireSlots` and `run` in Python wait until executors"
                  + " with slots for all ranks have registered; then they throw.")
          .since("0.1.0")
          .check(value -> !value.isNegative(), "0 or more")
          .defaultsTo(Duration.ofSeconds(30));

  /** Permits Python workers to connect. */
  public static final ConfigEntry<Boolean> PYTHON_ENABLED =
      ConfigEntry.bool("spark.collectives.python.enabled")
          .doc(
              "Whether Python workers of barrier tasks can have groups: the executor listens for"
                  + " them on the loopback address while such tasks run.")
          .since("0.1.0")
          .defaultsTo(true);

  /** Permits the tab in Spark's UI. */
  public static final ConfigEntry<Boolean> UI_ENABLED =
      ConfigEntry.bool("spark.collectives.ui.enabled")
          .doc(
              "Whether Spark's UI has the tab \"Collectives\", and the event log has the events"
                  + " that a history server needs for it. A history server reads its own value.")
          .since("0.1.0")
          .defaultsTo(true);

  /** The limit of all large values in the driver's store. */
  public static final ConfigEntry<Long> STORE_MAX_SIZE =
      ConfigEntry.bytes("spark.collectives.store.maxSize")
          .doc(
              "How many bytes the large values (more than 64 KiB) in the driver's store may have"
                  + " together, checkpoints included. They lie in the driver's BlockManager, which"
                  + " writes them to disk if memory is short. A value that does not fit is"
                  + " refused.")
          .since("0.1.0")
          .check(value -> value >= 0, "0 or more")
          .defaultsTo(64L << 30);

  /** How often executors report their ranks' operations to the driver. */
  public static final ConfigEntry<Duration> STATISTICS_INTERVAL =
      ConfigEntry.duration("spark.collectives.statistics.interval")
          .doc(
              "How often each executor sends the driver the statistics of its ranks: for the"
                  + " driver's metrics, the tab \"Collectives\" and the search for ranks that are"
                  + " slower than the others. 0 sends nothing; the executors' own metrics stay.")
          .since("0.1.0")
          .check(
              value -> value.isZero() || value.compareTo(Duration.ofMillis(100)) >= 0,
              "0, or 100ms or more")
          .defaultsTo(Duration.ofSeconds(2));

  /** The script that tells the racks of hosts. */
  public static final ConfigEntry<String> TOPOLOGY_SCRIPT =
      ConfigEntry.string("spark.collectives.topology.script")
          .doc(
              "Path of an executable on the driver's host that takes host names as arguments and"
                  + " prints a rack, such as `/dc1/rack7`, for each, like Hadoop's"
                  + " `net.topology.script.file.name`. If it is empty, racks come from Spark's"
                  + " topology mapper (`spark.storage.replication.topologyMapper`), else on YARN"
                  + " from Hadoop's configuration.")
          .since("0.1.0")
          .defaultsTo("");

  private SparkPluginConfiguration() {}

  /** Returns all settings, in the order of the documentation. */
  public static List<ConfigEntry<?>> entries() {
    return List.of(
        PREFLIGHT_TIMEOUT,
        PYTHON_ENABLED,
        UI_ENABLED,
        STORE_MAX_SIZE,
        STATISTICS_INTERVAL,
        TOPOLOGY_SCRIPT);
  }
}
