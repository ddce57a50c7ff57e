package org.sparkcollectives.spark.internal.ui;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spark.config.SparkSettings;
import org.sparkcollectives.spark.event.LibraryStarted;
import scala.Tuple2;

/** The tab of a running application. */
public final class CollectivesUi {

  private static final Logger LOG = LoggerFactory.getLogger(CollectivesUi.class);
  private static final String PREFIX = "spark.collectives.";

  /** Spark's own setting, and its default. */
  private static final String REDACTION = "spark.redaction.regex";

  private static final String REDACTION_DEFAULT = "(?i)secret|password|token|access[.]?key";

  /**
   * How often an active group writes an event with its sums. Groups of more than 160 ranks write
   * less often.
   */
  private static final Duration EVENT_INTERVAL = Duration.ofSeconds(10);

  private CollectivesUi() {}

  /**
   * Adds the tab to the UI of an application, and posts the first event. Called once for each
   * application. Never fails: without a tab the application runs as well.
   *
   * @return the shortest time between two events of a group; empty if there are to be none
   */
  public static Optional<Duration> install(SparkContext context) {
    try {
      SparkConf conf = context.getConf();
      Configuration settings = SparkSettings.of(conf);
      if (!settings.get(SparkPluginConfiguration.UI_ENABLED)) {
        return Optional.empty();
      }
      if (context.ui().isDefined()) {
        GroupStore store = new GroupStore(context.statusStore().store());
        context.listenerBus().addToStatusQueue(new GroupListener(store, GroupListener.MOST_GROUPS));
        CollectivesTab.attach(context.ui().get(), store);
      }
      context.listenerBus().post(started(conf, context.version()));
      return Optional.of(EVENT_INTERVAL);
    } catch (Exception | LinkageError e) {
      LOG.warn("The tab \"Collectives\" is not shown", e);
      return Optional.empty();
    }
  }

  private static LibraryStarted started(SparkConf conf, String sparkVersion) {
    String version = CollectivesUi.class.getPackage().getImplementationVersion();
    return new LibraryStarted(System.currentTimeMillis(), version, sparkVersion, settings(conf));
  }

  /** Returns the settings of this library that are set, without secrets. */
  static Map<String, String> settings(SparkConf conf) {
    Pattern secret = Pattern.compile(conf.get(REDACTION, REDACTION_DEFAULT));
    Map<String, String> settings = new TreeMap<>();
    for (Tuple2<String, String> each : conf.getAllWithPrefix(PREFIX)) {
      String name = PREFIX + each._1();
      boolean hidden = secret.matcher(name).find() || secret.matcher(each._2()).find();
      settings.put(name, hidden ? LibraryStarted.REDACTED : each._2());
    }
    return settings;
  }
}
