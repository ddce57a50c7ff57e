package org.sparkcollectives.spark.internal.ui;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.sparkcollectives.spark.event.GroupSums;
import org.sparkcollectives.spark.event.RankPlace;
import org.sparkcollectives.spark.event.RankSums;

/** The table of a group's ranks, which shows whom the others wait for. */
final class RankTable {

  private static final double LEAST_SLOWNESS = 0.001;

  private RankTable() {}

  static void write(Html html, GroupRow group, GroupDetails details, String toRoot) {
    GroupSums sums = details.sums;
    html.element("h4", "Ranks");
    stragglers(html, sums);
    Map<Integer, RankPlace> places = new TreeMap<>();
    details.ranks.forEach(place -> places.put(place.rank(), place));
    Map<Integer, RankSums> byRank = new HashMap<>();
    sums.byRank().forEach(each -> byRank.put(each.rank(), each));
    byRank
        .keySet()
        .forEach(
            rank -> places.computeIfAbsent(rank, each -> new RankPlace(each, "", "", 0, 0, 0)));
    if (places.isEmpty()) {
      html.element("p", "The ranks of this group are not known.");
      return;
    }
    Table table = columns(html);
    for (RankPlace place : places.values()) {
      RankSums own =
          byRank.getOrDefault(place.rank(), new RankSums(place.rank(), 0, 0, 0, 0, 0, false, 0, 0));
      row(table, place, own, sums, toRoot);
    }
    table.end();
    if (group.size > places.size()) {
      html.element("p", places.size() + " of " + group.size + " ranks are listed.");
    }
  }

  private static void stragglers(Html html, GroupSums sums) {
    List<String> slow =
        sums.byRank().stream()
            .filter(RankSums::straggler)
            .map(each -> Integer.toString(each.rank()))
            .toList();
    if (!slow.isEmpty()) {
      html.open("p")
          .text("The others wait for ")
          .element("strong", (slow.size() == 1 ? "rank " : "ranks ") + String.join(", ", slow))
          .text(", whose own code takes longer.")
          .close("p");
    }
  }

  /** Returns by how much a rank is slower, or faster, such as {@code +12 %}. */
  private static String slowness(double slowness) {
    if (Math.abs(slowness) < LEAST_SLOWNESS) {
      return "–";
    }
    return (slowness > 0 ? "+" : "−") + Format.share(Math.abs(slowness));
  }

  private static Table columns(Html html) {
    return new Table(html, "collectives-ranks")
        .column("Rank", "The rank in the group")
        .column("Executor", "The executor's id, with a link to Spark's list of executors")
        .column("Host", "The host of the executor")
        .column("Paths", "Ranks that it reaches in the heap, over shared memory (shm) and TCP")
        .column("Came last", "Share of the compared operations to which this rank came last")
        .column("Others waited", "How long the median rank waited for this one in these")
        .column(
            "Own code", "How much longer its own code takes than that of the median rank, lately")
        .column("In collectives", "How long an operation was pending on this rank")
        .column(
            "Outside",
            "How long none was pending: the rank was in its own code, or in other groups'"
                + " operations")
        .column("Operations", "Operations that have succeeded on this rank")
        .column("Bytes", "Their bytes on this rank")
        .rows();
  }

  private static void row(
      Table table, RankPlace place, RankSums own, GroupSums sums, String toRoot) {
    double last = sums.compared() == 0 ? 0 : (double) own.lastArrivals() / sums.compared();
    long all = own.insideMillis() + own.outsideMillis();
    double inside = all == 0 ? 0 : (double) own.insideMillis() / all;
    table
        .beginRow()
        .cell(cell -> rank(cell, place.rank(), own.straggler()))
        .cell(cell -> executor(cell, place, toRoot))
        .cell(place.host().isEmpty() ? "–" : place.host())
        .cell(paths(place))
        .cell(last, sums.compared() == 0 ? "–" : Format.share(last))
        .cell(own.awaitedMillis(), Format.millis(own.awaitedMillis()))
        .cell(own.slowness(), slowness(own.slowness()))
        .cell(
            own.insideMillis(),
            Format.millis(own.insideMillis()) + (all == 0 ? "" : ", " + Format.share(inside)))
        .cell(own.outsideMillis(), Format.millis(own.outsideMillis()))
        .cell(own.operations())
        .cell(own.bytes(), Format.bytes(own.bytes()))
        .endRow();
  }

  private static void rank(Html cell, int rank, boolean straggler) {
    cell.text(Integer.toString(rank));
    if (straggler) {
      cell.text(" ").element("span", "slow", "class", "badge badge-warning bg-warning text-dark");
    }
  }

  private static void executor(Html cell, RankPlace place, String toRoot) {
    if (place.executor().isEmpty()) {
      cell.text("–");
    } else {
      cell.link(toRoot + "executors/", place.executor());
    }
  }

  private static String paths(RankPlace place) {
    GroupRow own = new GroupRow();
    own.heap = place.heap();
    own.sharedMemory = place.sharedMemory();
    own.tcp = place.tcp();
    return GroupTexts.paths(own);
  }
}
