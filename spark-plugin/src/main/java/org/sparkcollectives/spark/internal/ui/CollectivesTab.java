package org.sparkcollectives.spark.internal.ui;

import org.apache.spark.ui.SparkUI;
import org.apache.spark.ui.SparkUITab;

/** The tab, live and in the history server: both have a {@code SparkUI} with a store. */
final class CollectivesTab extends SparkUITab {

  /** Its path; Spark shows it with a capital letter. */
  static final String NAME = "collectives";

  private CollectivesTab(SparkUI ui, GroupStore store) {
    super(ui, NAME);
    attachPage(new GroupsPage(this, store));
    attachPage(new GroupPage(this, store));
    attachPage(new RunPage(this, store));
  }

  /** Adds the tab to a UI. */
  static void attach(SparkUI ui, GroupStore store) {
    ui.attachTab(new CollectivesTab(ui, store));
  }
}
