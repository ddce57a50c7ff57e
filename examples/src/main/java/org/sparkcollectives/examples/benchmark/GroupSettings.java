package org.sparkcollectives.examples.benchmark;

import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.config.ConfigEntry;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.config.NearestName;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.StoreConfiguration;

/**
 * The settings of the group that is measured.
 *
 * @param transports the transports that may be used; empty for the configured ones
 * @param settings further settings by key
 */
record GroupSettings(List<String> transports, Map<String, String> settings) {

  private static final String PREFIX = "spark.collectives.";

  /**
   * Refuses settings that nobody reads, or whose value is malformed.
   *
   * @throws IllegalArgumentException naming the key
   */
  void check() {
    Map<String, ConfigEntry<?>> known =
        Stream.of(
                CollectivesConfiguration.entries(),
                StoreConfiguration.entries(),
                SparkPluginConfiguration.entries())
            .flatMap(List::stream)
            .collect(Collectors.toMap(ConfigEntry::key, entry -> entry));
    settings.forEach(
        (key, value) -> {
          if (known.containsKey(key)) {
            known.get(key).parse(value);
          } else if (!key.startsWith("spark.") || key.startsWith(PREFIX)) {
            throw new IllegalArgumentException(
                "There is no setting "
                    + key
                    + ", only "
                    + new TreeSet<>(known.keySet())
                    + NearestName.question(key, known.keySet()));
          }
        });
    options();
  }

  /** Returns the options of the group. */
  GroupOptions options() {
    GroupOptions options = GroupOptions.defaults().withDescription("benchmark");
    return transports.isEmpty()
        ? options
        : options.withTransports(transports.toArray(String[]::new));
  }

  /** Returns a rank of this process, with these settings before the system properties. */
  RankContext context() {
    RankContext process = RankContext.process();
    Configuration configuration = Configuration.of(settings);
    return new RankContext() {
      @Override
      public String executorId() {
        return process.executorId();
      }

      @Override
      public long taskAttemptId() {
        return process.taskAttemptId();
      }

      @Override
      public boolean isKilled() {
        return process.isKilled();
      }

      @Override
      public String killReason() {
        return process.killReason();
      }

      @Override
      public Configuration configuration() {
        return configuration;
      }
    };
  }
}
