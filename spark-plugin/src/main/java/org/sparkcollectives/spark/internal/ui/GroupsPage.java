package org.sparkcollectives.spark.internal.ui;

import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.spark.ui.SparkUITab;
import org.sparkcollectives.spark.event.LibraryStarted;

/** The first page of the tab: elastic stages, groups, and the settings. */
final class GroupsPage extends CollectivesPage {

  private static final String TO_ROOT = "../";

  private final GroupStore store;

  GroupsPage(SparkUITab tab, GroupStore store) {
    super(tab, "");
    this.store = store;
  }

  /**
   * What the page shows, as JSON.
   *
   * @param library the library; null if the event was dropped
   * @param groups the groups, the newest first
   * @param runs the calls of {@code ElasticStage}, the newest first
   */
  public record Content(LibraryRow library, List<GroupRow> groups, List<RunRow> runs) {}

  @Override
  String title(UnaryOperator<String> parameter) {
    return "Collectives";
  }

  @Override
  Object json(UnaryOperator<String> parameter) {
    return new Content(store.library().orElse(null), store.groups(), store.runs());
  }

  @Override
  String html(UnaryOperator<String> parameter) {
    return html(store.groups(), store.runs(), store.library().orElseGet(LibraryRow::new));
  }

  static String html(List<GroupRow> groups, List<RunRow> runs, LibraryRow library) {
    Html html = new Html();
    RunTable.write(html, runs);
    html.element("h4", "Groups (" + groups.size() + ")");
    if (groups.isEmpty()) {
      html.element("p", "No barrier stage has made a group yet.");
    } else {
      table(html, groups);
    }
    settings(html, library);
    html.open("p").link("json", "This page as JSON").close("p");
    return html.toString();
  }

  private static void table(Html html, List<GroupRow> groups) {
    Table table =
        new Table(html, "collectives-groups")
            .column("Group", "The group's name, with a link to its page")
            .column("Stage", "The barrier stage whose tasks are the ranks, and its attempt")
            .column("Ranks", "The number of ranks")
            .column("Hosts", "The number of hosts that they are on")
            .column("Paths", "Pairs of ranks that use the heap, shared memory (shm) or TCP")
            .column("State", "Open, closed by its ranks, or failed")
            .column("Since", "When all ranks had met")
            .column("Duration", "From then to the group's end")
            .column("Operations", "How many have succeeded on a rank, the mean of all")
            .column("Bytes", "Their bytes, summed over the ranks")
            .column("In collectives", "Share of the time in which an operation was pending")
            .column("Waiting", "Share of that in which ranks waited for the last one, lately")
            .rows();
    for (GroupRow group : groups) {
      table
          .beginRow()
          .cell(cell -> cell.link("group/?id=" + group.id, group.name))
          .cell(cell -> GroupTexts.stage(cell, group, TO_ROOT))
          .cell(group.size)
          .cell(group.hosts)
          .cell(GroupTexts.paths(group))
          .cell(cell -> state(cell, group))
          .cell(group.since, Format.time(group.since))
          .cell(duration(group), group.ended == 0 ? "–" : Format.millis(duration(group)))
          .cell(group.operationsOfARank(), Format.count(Math.round(group.operationsOfARank())))
          .cell(group.bytes, Format.bytes(group.bytes))
          .cell(group.insideShare, Format.share(group.insideShare))
          .cell(group.waitingShare, Format.share(group.waitingShare))
          .endRow();
    }
    table.end();
  }

  static long duration(GroupRow group) {
    return group.ended == 0 ? 0 : Math.max(0, group.ended - group.since);
  }

  /** Adds the state of a group. */
  static void state(Html html, GroupRow group) {
    switch (group.state) {
      case OPEN -> html.text("open");
      case CLOSED -> html.text("closed");
      case FAILED -> html.element("strong", "failed", "class", "text-danger");
    }
  }

  private static void settings(Html html, LibraryRow library) {
    html.element("h4", "Settings");
    html.element(
        "p",
        "Spark Collectives"
            + (library.version.isEmpty() ? "" : " " + library.version)
            + (library.sparkVersion.isEmpty() ? "" : " on Spark " + library.sparkVersion)
            + ". Settings that are not listed have their defaults.");
    if (library.settings.isEmpty()) {
      return;
    }
    Table table =
        new Table(html, "collectives-settings")
            .column("Property name", "As it was set for the application")
            .column("Value", "Secrets are not shown: " + LibraryStarted.REDACTED)
            .rows();
    for (Map.Entry<String, String> setting : library.settings.entrySet()) {
      table.beginRow().cell(setting.getKey()).cell(setting.getValue()).endRow();
    }
    table.end();
  }
}
