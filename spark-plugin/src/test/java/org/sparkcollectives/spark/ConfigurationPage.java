package org.sparkcollectives.spark;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.CollectivesConfiguration;
import org.sparkcollectives.config.ConfigEntry;
import org.sparkcollectives.gpu.GpuConfiguration;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.store.StoreConfiguration;

/** Writes the documentation of the settings from the entries that the modules declare. */
final class ConfigurationPage {

  static final String BEGIN = "<!-- generated: configuration -->\n";
  static final String END = "<!-- end of generated -->";

  private ConfigurationPage() {}

  private static List<ConfigEntry<?>> entries() {
    List<ConfigEntry<?>> entries = new ArrayList<>();
    entries.addAll(CollectivesConfiguration.entries());
    entries.addAll(StoreConfiguration.entries());
    entries.addAll(GpuConfiguration.entries());
    entries.addAll(SparkPluginConfiguration.entries());
    return entries;
  }

  /** Returns the whole page. */
  static String page() {
    StringBuilder text = new StringBuilder();
    text.append("# Configuration\n\n");
    text.append("<!-- Generated from the code by ConfigurationPageTest. Do not edit. -->\n\n");
    text.append(
        "Spark settings, or system properties outside Spark. Durations and sizes are written\n");
    text.append("as in Spark: `30min`, `64m`.\n\n");
    text.append("| Property name | Type | Default | Meaning | Since |\n|---|---|---|---|---|\n");
    for (ConfigEntry<?> entry : entries()) {
      text.append("| `").append(entry.key()).append("` | ").append(entry.type()).append(" | ");
      text.append(defaultOf(entry)).append(" | ").append(entry.doc()).append(" | ");
      text.append(entry.since()).append(" |\n");
    }
    return text.toString();
  }

  /** Returns the table in the README. */
  static String table() {
    StringBuilder text = new StringBuilder("| Property name | Default |\n|---|---|\n");
    for (ConfigEntry<?> entry : entries()) {
      text.append("| `").append(entry.key()).append("` | ").append(defaultOf(entry));
      text.append(" |\n");
    }
    return text.toString();
  }

  private static String defaultOf(ConfigEntry<?> entry) {
    return entry.defaultText().isEmpty() ? "(none)" : "`" + entry.defaultText() + "`";
  }

  /** Returns the README with the current table. */
  static String inReadme(String readme) {
    int begin = readme.indexOf(BEGIN) + BEGIN.length();
    int end = readme.indexOf(END);
    return readme.substring(0, begin) + table() + readme.substring(end);
  }
}
