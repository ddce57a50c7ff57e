package org.sparkcollectives.spark.internal.ui;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.apache.spark.ui.SparkUITab;
import org.sparkcollectives.Failure;
import org.sparkcollectives.spark.event.GroupFailed;
import org.sparkcollectives.spark.event.GroupSums;

/** The page of one group, at {@code group/?id=...}. */
final class GroupPage extends CollectivesPage {

  private static final String TO_ROOT = "../../";

  private final GroupStore store;

  GroupPage(SparkUITab tab, GroupStore store) {
    super(tab, "group");
    this.store = store;
  }

  /**
   * What the page shows, as JSON; both are null if there is no such group.
   *
   * @param group the group as the list has it
   * @param details what this page shows beside that
   */
  public record Content(GroupRow group, GroupDetails details) {}

  @Override
  String title(UnaryOperator<String> parameter) {
    return find(parameter).map(group -> "Group " + group.name).orElse("Group");
  }

  @Override
  Object json(UnaryOperator<String> parameter) {
    Optional<GroupRow> group = find(parameter);
    return new Content(
        group.orElse(null), group.flatMap(each -> store.details(each.id)).orElse(null));
  }

  @Override
  String html(UnaryOperator<String> parameter) {
    Optional<GroupRow> group = find(parameter);
    return group.isEmpty()
        ? missing()
        : html(group.get(), store.details(group.get().id).orElseGet(GroupDetails::new));
  }

  private Optional<GroupRow> find(UnaryOperator<String> parameter) {
    String id = parameter.apply("id");
    try {
      return id == null ? Optional.empty() : store.group(Long.parseLong(id));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  private static String missing() {
    Html html = new Html();
    html.open("p")
        .text("There is no such group, or it is no longer shown because there were more than ")
        .text(GroupListener.MOST_GROUPS + " after it. ")
        .link("../", "All groups")
        .close("p");
    return html.toString();
  }

  static String html(GroupRow group, GroupDetails details) {
    Html html = new Html();
    summary(html, group, details);
    failures(html, details);
    RankTable.write(html, group, details, TO_ROOT);
    OperationTable.write(html, group, details);
    NewestOperations.write(html, details.sums.newest());
    Timeline.write(html, group.size, details.intervals);
    html.open("p")
        .link("../", "All groups")
        .text(" · ")
        .link("json?id=" + group.id, "This page as JSON")
        .close("p");
    return html.toString();
  }

  private static void summary(Html html, GroupRow group, GroupDetails details) {
    html.open("ul", "class", "list-unstyled");
    html.open("li").element("strong", "Stage: ");
    GroupTexts.stage(html, group, TO_ROOT);
    html.close("li");
    html.open("li").element("strong", "State: ");
    GroupsPage.state(html, group);
    html.text(", since " + Format.time(group.since));
    if (group.ended > 0) {
      html.text(", for " + Format.millis(GroupsPage.duration(group)));
    }
    html.close("li");
    item(html, "Ranks", Format.count(group.size) + " on " + hosts(group.hosts));
    item(html, "Paths between ranks", GroupTexts.paths(group));
    item(
        html,
        "Operations",
        Format.count(Math.round(group.operationsOfARank()))
            + " on a rank; over all ranks "
            + Format.bytes(group.bytes)
            + (group.failures > 0 ? ", and " + Format.count(group.failures) + " failed" : ""));
    pending(html, group, details);
    training(html, details.sums);
    item(html, "In collectives", Format.share(group.insideShare) + " of the time");
    item(
        html,
        "Waiting",
        Format.share(group.waitingShare)
            + " of that, in the newest of the "
            + Format.count(details.sums.compared())
            + " operations that were compared");
    item(html, "As of", Format.time(details.time));
    html.close("ul");
  }

  private static String hosts(int hosts) {
    return hosts == 1 ? "1 host" : Format.count(hosts) + " hosts";
  }

  private static void pending(Html html, GroupRow group, GroupDetails details) {
    if (group.ended == 0 && details.sums.pending() > 0) {
      item(
          html,
          "Pending",
          Format.count(details.sums.pending())
              + " operations over all ranks, the oldest for "
              + Format.millis(details.sums.longestPendingMillis()));
    }
  }

  private static void item(Html html, String name, String value) {
    html.open("li").element("strong", name + ": ").text(value).close("li");
  }

  private static void failures(Html html, GroupDetails details) {
    if (details.failures.isEmpty()) {
      return;
    }
    html.element("h4", "Failure");
    for (GroupFailed failure : details.failures) {
      html.open("div", "class", "alert alert-danger");
      html.open("p").element("strong", cause(failure)).close("p");
      html.element("pre", failure.text());
      if (!failure.finding().isEmpty()) {
        html.element("p", "The flight recorders say:").element("pre", failure.finding());
      }
      if (!failure.dump().isEmpty()) {
        html.open("p").text("Dumps on the driver's host: ").element("code", failure.dump());
        html.close("p");
      }
      html.close("div");
    }
  }

  private static String cause(GroupFailed failure) {
    String where =
        failure.rank() < 0
            ? "Unknown rank"
            : "Rank "
                + failure.rank()
                + " ("
                + failure.host()
                + ", executor "
                + failure.executor()
                + ")";
    return where + " " + verb(failure.kind()) + ", at " + Format.time(failure.time());
  }

  private static String verb(String kind) {
    try {
      return Failure.Kind.valueOf(kind).verb();
    } catch (IllegalArgumentException e) {
      // Of a later version.
      return "failed: " + kind;
    }
  }

  private static void training(Html html, GroupSums sums) {
    Map<String, Double> training = new TreeMap<>(sums.training());
    Double done = training.remove(GroupSums.DONE);
    Double total = training.remove(GroupSums.TOTAL);
    if (done != null && total != null && total > 0) {
      item(
          html,
          "Progress",
          Format.count(Math.round(done))
              + " of "
              + Format.count(Math.round(total))
              + ", "
              + Format.share(done / total)
              + (sums.trainingText().isEmpty() ? "" : ": " + sums.trainingText()));
    }
    training.forEach((name, value) -> item(html, name, Format.figure(value)));
  }
}
