package org.sparkcollectives.spark.internal.driver;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.Arrival;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.OperationStatistics;
import org.sparkcollectives.spark.event.GroupMade;
import org.sparkcollectives.spark.event.GroupSums;
import org.sparkcollectives.spark.event.OperationSums;
import org.sparkcollectives.spark.event.RankPlace;
import org.sparkcollectives.spark.event.RankSums;
import org.sparkcollectives.spark.internal.metrics.OperationTotals;

/** Turns what the driver knows of a group into the parts of an event. */
final class SnapshotSums {

  /** Figures with more digits than that only make the event log longer. */
  private static final MathContext DIGITS = new MathContext(3);

  private static final double MILLIS = 1e3;

  private SnapshotSums() {}

  static GroupSums of(GroupSnapshot group) {
    OperationTotals sums = group.sums();
    return new GroupSums(
        sums.operations(),
        sums.failures(),
        sums.bytes(),
        sums.pending(),
        millis(sums.longestPendingSeconds()),
        group.samples(),
        rounded(waitingShare(group)),
        millis(sums.collectiveSeconds()),
        millis(sums.outsideSeconds()),
        operations(group),
        ranks(group),
        training(group.progress()),
        group.progress().text(),
        group.newest());
  }

  private static Map<String, Double> training(GroupStatistics.Progress progress) {
    return progress.total() <= 0
        ? Map.of()
        : Map.of(
            GroupSums.DONE, (double) progress.done(), GroupSums.TOTAL, (double) progress.total());
  }

  /** Returns where the ranks are. */
  static List<RankPlace> places(GroupSnapshot group) {
    return group.ranks().stream().map(SnapshotSums::place).toList();
  }

  private static RankPlace place(RankSnapshot rank) {
    GroupStatistics.Paths paths = rank.statistics().paths();
    return new RankPlace(
        rank.rank(),
        rank.host(),
        rank.executorId(),
        paths.heap(),
        paths.sharedMemory(),
        paths.tcp());
  }

  /** Returns the ranks, of which an event lists a bounded number: slow ones are among these. */
  private static List<RankSums> ranks(GroupSnapshot group) {
    Comparator<RankSnapshot> slowFirst = Comparator.comparing(rank -> !rank.straggler());
    return group.ranks().stream()
        .sorted(slowFirst)
        .limit(GroupMade.MOST_RANKS)
        .sorted(Comparator.comparingInt(RankSnapshot::rank))
        .map(SnapshotSums::rank)
        .toList();
  }

  private static RankSums rank(RankSnapshot rank) {
    GroupStatistics own = rank.statistics();
    return new RankSums(
        rank.rank(),
        own.operations(),
        own.bytes(),
        rank.arrivedLast(),
        millis(rank.waitedSeconds()),
        rounded(rank.slowness()),
        rank.straggler(),
        millis(own.collectiveSeconds()),
        millis(own.outsideSeconds()));
  }

  /** Returns the rows of operations, those that took longest first: an event may leave some out. */
  private static List<OperationSums> operations(GroupSnapshot group) {
    return group.byOperation().stream()
        .sorted(
            Comparator.comparingDouble((OperationSnapshot each) -> each.sums().seconds())
                .reversed())
        .map(each -> operation(each, group.size()))
        .toList();
  }

  private static OperationSums operation(OperationSnapshot operation, int size) {
    OperationStatistics row = operation.sums();
    return new OperationSums(
        row.operation().name(),
        row.sizeClass(),
        row.algorithm(),
        row.count(),
        row.bytes(),
        rounded(row.medianSeconds()),
        rounded(row.p99Seconds()),
        rounded(row.busBandwidth(size)),
        operation.compared(),
        rounded(operation.waitedSeconds()));
  }

  /**
   * Returns which part of the time of the newest operations that all ranks have sampled the ranks
   * waited for the last one, whose duration is the shortest.
   */
  static double waitingShare(GroupSnapshot group) {
    if (group.ranks().size() < group.size()) {
      return 0;
    }
    Map<Long, List<Long>> durations = new HashMap<>();
    for (RankSnapshot rank : group.ranks()) {
      for (Arrival each : rank.statistics().arrivals()) {
        durations
            .computeIfAbsent(each.sequence(), sequence -> new ArrayList<>())
            .add(each.durationNanos());
      }
    }
    double all = 0;
    double waited = 0;
    for (List<Long> each : durations.values()) {
      if (each.size() == group.size()) {
        double sum = each.stream().mapToDouble(Long::doubleValue).sum();
        all += sum;
        waited += sum - each.stream().mapToLong(Long::longValue).min().orElse(0) * each.size();
      }
    }
    return all > 0 ? waited / all : 0;
  }

  private static long millis(double seconds) {
    return Math.round(seconds * MILLIS);
  }

  /** Returns a number with three digits; 0 for what is none. */
  static double rounded(double value) {
    return Double.isFinite(value) ? new BigDecimal(value).round(DIGITS).doubleValue() : 0;
  }
}
