package org.sparkcollectives.spark.internal.ui;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.spark.ui.SparkUITab;
import org.sparkcollectives.spark.event.QuorumFormed;
import org.sparkcollectives.spark.event.ReplicaPlace;

/** The page of one call of {@code ElasticStage}, at {@code run/?id=...}: its quorums. */
final class RunPage extends CollectivesPage {

  private final GroupStore store;

  RunPage(SparkUITab tab, GroupStore store) {
    super(tab, "run");
    this.store = store;
  }

  @Override
  String title(UnaryOperator<String> parameter) {
    return find(parameter).map(run -> "Elastic stage, run " + run.id).orElse("Elastic stage");
  }

  @Override
  Object json(UnaryOperator<String> parameter) {
    return find(parameter).orElseGet(RunRow::new);
  }

  @Override
  String html(UnaryOperator<String> parameter) {
    return find(parameter).map(RunPage::html).orElseGet(RunPage::missing);
  }

  private Optional<RunRow> find(UnaryOperator<String> parameter) {
    String id = parameter.apply("id");
    try {
      return id == null ? Optional.empty() : store.run(Long.parseLong(id));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  private static String missing() {
    Html html = new Html();
    html.open("p")
        .text("There is no such run, or it is no longer shown because there were more than ")
        .text(GroupListener.MOST_RUNS + " after it. ")
        .link("../", "All runs")
        .close("p");
    return html.toString();
  }

  static String html(RunRow run) {
    Html html = new Html();
    html.open("p").element("strong", "State: ");
    RunTable.state(html, run);
    html.text(", since " + Format.time(run.since)).close("p");
    if (!run.failure.isEmpty()) {
      html.open("div", "class", "alert alert-danger").element("pre", run.failure).close("div");
    }
    html.element("h4", "Quorums");
    Table table =
        new Table(html, "collectives-quorums")
            .column("Quorum", "Its number; replicas keep it until one is lost or one joins")
            .column("Formed", "When the driver had formed it")
            .column("Step", "How many steps the state had seen with which it began")
            .column("Replicas", "Each with its executor")
            .column("Joined", "Not in the quorum before, or in another task")
            .column("Left", "Of the quorum before, and not in this one")
            .column("State from", "Which replica has sent the state, and to whom")
            .column("Attempts lost", "Attempts of a step lost until then")
            .rows();
    for (int i = run.quorums.size() - 1; i >= 0; i--) {
      row(table, run.quorums.get(i), i == 0 ? List.of() : run.quorums.get(i - 1).replicas());
    }
    table.end();
    html.open("p")
        .link("../", "All runs")
        .text(" · ")
        .link("json?id=" + run.id, "This page as JSON")
        .close("p");
    return html.toString();
  }

  private static void row(Table table, QuorumFormed quorum, List<ReplicaPlace> before) {
    Predicate<ReplicaPlace> joined = notIn(before);
    Predicate<ReplicaPlace> left = notIn(quorum.replicas());
    table
        .beginRow()
        .cell(quorum.quorum())
        .cell(quorum.time(), Format.time(quorum.time()))
        .cell(quorum.step())
        .cell(list(quorum.replicas(), each -> true))
        .cell(list(quorum.replicas(), joined))
        .cell(list(before, left))
        .cell(healing(quorum))
        .cell(quorum.lost())
        .endRow();
  }

  private static Predicate<ReplicaPlace> notIn(List<ReplicaPlace> others) {
    Set<Long> tasks = others.stream().map(ReplicaPlace::task).collect(Collectors.toSet());
    return each -> !tasks.contains(each.task());
  }

  private static String list(List<ReplicaPlace> replicas, Predicate<ReplicaPlace> which) {
    String list =
        replicas.stream()
            .filter(which)
            .map(each -> each.replica() + " (executor " + each.executor() + ")")
            .collect(Collectors.joining(", "));
    return list.isEmpty() ? "–" : list;
  }

  /** Returns who gets the state from whom, such as {@code 0 to 2, 3}. */
  private static String healing(QuorumFormed quorum) {
    List<ReplicaPlace> receivers =
        quorum.replicas().stream().filter(each -> each.source() != each.replica()).toList();
    String from = quorum.checkpoint() ? "a checkpoint" : "";
    if (receivers.isEmpty()) {
      return from.isEmpty() ? "–" : from;
    }
    return (from.isEmpty() ? "" : from + ", by ")
        + receivers.get(0).source()
        + " to "
        + receivers.stream()
            .map(each -> Integer.toString(each.replica()))
            .collect(Collectors.joining(", "));
  }
}
