package org.sparkcollectives.spark;

import java.util.List;
import org.sparkcollectives.config.ConfigEntry;
import org.sparkcollectives.gpu.GpuConfiguration;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.store.StoreConfiguration;

/** Writes the documentation of the settings from the entries that the modules declare. */
final class ConfigurationPage {

  private static final String INTRODUCTION =
      """
      For users and operators: every setting, with its default and its meaning.
      Spark settings (`--conf`), or system properties outside Spark. Durations and sizes are written as in Spark: `30min`,
      `64m`. An application reads them when it starts; `GroupOptions` sets some of them for a single group. A setting that does
      not exist is ignored, with a warning in the driver's log. Most applications need none. The most frequent ones are:

      | to | set |
      |---|---|
      | pass a firewall | `spark.collectives.port`, see [ports](../operate/deployment.md#ports) |
      | wait for executors that take minutes to start | `spark.collectives.preflight.timeout` |
      | find a hang sooner, or let a slow rank finish | `spark.collectives.timeout` |
      | tolerate long pauses of a JVM | `spark.collectives.heartbeat.timeout` |
      | find ranks that call different operations | `spark.collectives.debug=DETAIL` |
      | encrypt | Spark's own `spark.network.crypto.enabled=true`, see [security](../operate/security.md) |
      | use GPUs over NCCL | `spark.collectives.backend=cpu:netty,cuda:nccl`, see [GPUs](../guide/gpu.md) |
      """;

  private ConfigurationPage() {}

  /** Returns the whole page. */
  static String page() {
    StringBuilder text = new StringBuilder();
    text.append("# Settings\n\n");
    text.append("<!-- Generated from the code by ConfigurationPageTest. Do not edit. -->\n\n");
    text.append(INTRODUCTION);
    section(text, "Groups", CollectivesConfiguration.entries());
    section(text, "Rendezvous and store", StoreConfiguration.entries());
    section(text, "GPUs", GpuConfiguration.entries());
    section(text, "Spark", SparkPluginConfiguration.entries());
    return text.toString();
  }

  private static void section(StringBuilder text, String title, List<ConfigEntry<?>> entries) {
    text.append("\n## ").append(title).append("\n\n");
    text.append("| Property name | Type | Default | Meaning | Since |\n|---|---|---|---|---|\n");
    for (ConfigEntry<?> entry : entries) {
      text.append("| `").append(entry.key()).append("` | ").append(entry.type()).append(" | ");
      text.append(defaultOf(entry)).append(" | ").append(entry.doc()).append(" | ");
      text.append(entry.since()).append(" |\n");
    }
  }

  private static String defaultOf(ConfigEntry<?> entry) {
    return entry.defaultText().isEmpty() ? "(none)" : "`" + entry.defaultText() + "`";
  }
}
