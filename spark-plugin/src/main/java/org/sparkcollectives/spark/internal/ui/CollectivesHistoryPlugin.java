package org.sparkcollectives.spark.internal.ui;

import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.status.AppHistoryServerPlugin;
import org.apache.spark.status.ElementTrackingStore;
import org.apache.spark.ui.SparkUI;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spark.config.SparkSettings;
import scala.collection.immutable.$colon$colon;
import scala.collection.immutable.List;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/**
 * The tab in a history server, which finds this class by {@code META-INF/services}.
 *
 * <p>If it threw, no page of the application would be shown: so without a tab it only logs.
 */
public final class CollectivesHistoryPlugin implements AppHistoryServerPlugin, OtherSparks.History {

  private static final Logger LOG = LoggerFactory.getLogger(CollectivesHistoryPlugin.class);

  /** Creates the plugin; the history server calls this. */
  public CollectivesHistoryPlugin() {}

  @Override
  public Seq<SparkListener> createListeners(SparkConf conf, ElementTrackingStore store) {
    try {
      Configuration settings = SparkSettings.of(conf);
      if (settings.get(SparkPluginConfiguration.UI_ENABLED)) {
        return listOf(new GroupListener(new GroupStore(store), GroupListener.MOST_GROUPS));
      }
    } catch (Exception | LinkageError e) {
      LOG.warn("The tab \"Collectives\" is not shown", e);
    }
    return none();
  }

  private static Seq<SparkListener> listOf(SparkListener listener) {
    return new $colon$colon<>(listener, none());
  }

  @SuppressWarnings("unchecked")
  private static List<SparkListener> none() {
    return (List<SparkListener>) (List<?>) Nil$.MODULE$;
  }

  /** Adds the tab if the application has used this library. */
  @Override
  public void setupUI(SparkUI ui) {
    try {
      GroupStore store = new GroupStore(ui.store().store());
      if (store.isUsed()) {
        CollectivesTab.attach(ui, store);
      }
    } catch (Exception | LinkageError e) {
      LOG.warn("The tab \"Collectives\" is not shown", e);
    }
  }
}
