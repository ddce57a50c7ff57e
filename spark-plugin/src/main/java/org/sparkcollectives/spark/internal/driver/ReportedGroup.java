package org.sparkcollectives.spark.internal.driver;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.sparkcollectives.Arrival;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.OperationStatistics;
import org.sparkcollectives.spark.internal.metrics.OperationTotals;
import org.sparkcollectives.spark.internal.protocol.RankReport;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;

/** Keeps the newest reports of the ranks of one group. For one thread. */
final class ReportedGroup {

  private final StageAttempt stage;
  private final String name;
  private final int size;
  private final long startMillis;
  private final ArrivalComparison comparison;
  private final OperationWaits waits = new OperationWaits();
  private final Map<Integer, Rank> ranks = new TreeMap<>();
  private long updateMillis;
  private int left;
  private boolean ended;
  private Failure failure;
  private long failureMillis;

  private record Rank(String host, String executorId, RankReport report) {}

  /** Creates a group of which a rank has reported. */
  ReportedGroup(StageAttempt stage, GroupStatistics first, long nowMillis) {
    this.stage = stage;
    this.name = first.group();
    this.size = first.size();
    this.startMillis = nowMillis;
    this.updateMillis = nowMillis;
    this.comparison = new ArrivalComparison(size);
  }

  /** Keeps a report, unless it is of another group of the same name. */
  void add(String host, String executorId, RankReport report, long nowMillis) {
    if (report.statistics().size() != size) {
      return;
    }
    Rank before = ranks.put(report.statistics().rank(), new Rank(host, executorId, report));
    if (before != null && before.report().ended()) {
      left--;
    }
    if (report.ended()) {
      left++;
    }
    updateMillis = nowMillis;
    if (report.failure().isPresent()) {
      Failure reported = report.failure().get();
      if (failure == null) {
        failureMillis = nowMillis;
      }
      if (failure == null || reported.outranks(failure)) {
        failure = reported;
      }
    }
  }

  StageAttempt stage() {
    return stage;
  }

  /** Returns whether all ranks have left, or the stage has ended. */
  boolean hasEnded() {
    return ended || left == size;
  }

  /** Notes that the stage has ended. */
  void end() {
    ended = true;
  }

  long updateMillis() {
    return updateMillis;
  }

  /** Returns the failure that tells the most of the first cause. */
  Optional<Failure> failure() {
    return Optional.ofNullable(failure);
  }

  /** Returns when the first failure was reported. */
  long failureMillis() {
    return failureMillis;
  }

  /**
   * Returns what is known of a failure.
   *
   * @param dump the dumps that the ranks made of it
   */
  GroupFailure describe(Failure first, FailureDump dump) {
    return new GroupFailure(
        name,
        stage.stageId(),
        stage.attempt(),
        failureMillis,
        first.rank(),
        first.host(),
        first.executorId(),
        first.kind().name(),
        first.cause(),
        dump.folder(),
        dump.finding().orElse(""));
  }

  /** Compares the arrivals of the ranks, if all have reported and none has left. */
  void compareArrivals() {
    if (size < 2 || ranks.size() < size || left > 0) {
      return;
    }
    List<List<Arrival>> arrivals = new ArrayList<>(size);
    ranks.values().forEach(each -> arrivals.add(each.report().statistics().arrivals()));
    List<OperationStatistics> rows = ranks.get(0).report().statistics().byOperation();
    for (ArrivalComparison.Compared each : comparison.compare(arrivals)) {
      if (each.row() < rows.size()) {
        waits.add(each, rows.get(each.row()));
      }
    }
  }

  /** Returns the sums over the ranks. */
  private OperationTotals sums() {
    OperationTotals sums = OperationTotals.NONE;
    for (Rank each : ranks.values()) {
      boolean open = !hasEnded() && !each.report().ended();
      sums = sums.plus(OperationTotals.of(each.report().statistics(), open));
    }
    return sums;
  }

  /** Returns all that is known. */
  GroupSnapshot snapshot() {
    List<RankSnapshot> known = new ArrayList<>(ranks.size());
    for (Map.Entry<Integer, Rank> each : ranks.entrySet()) {
      int rank = each.getKey();
      RankReport report = each.getValue().report();
      known.add(
          new RankSnapshot(
              rank,
              each.getValue().host(),
              each.getValue().executorId(),
              report.taskAttemptId(),
              report.ended(),
              report.statistics(),
              comparison.arrivedLast(rank),
              comparison.waitedSeconds(rank),
              comparison.slowness(rank),
              comparison.isStraggler(rank)));
    }
    return new GroupSnapshot(
        name,
        stage.stageId(),
        stage.attempt(),
        size,
        startMillis,
        updateMillis,
        hasEnded(),
        failure != null,
        sums(),
        byOperation(),
        waits.newest(),
        progress(),
        comparison.samples(),
        known);
  }

  private GroupStatistics.Progress progress() {
    return ranks.values().stream()
        .map(each -> each.report().statistics().progress())
        .filter(each -> each.total() > 0)
        .findFirst()
        .orElse(GroupStatistics.Progress.NONE);
  }

  private List<OperationSnapshot> byOperation() {
    Map<OperationWaits.Key, List<OperationStatistics>> rows = new LinkedHashMap<>();
    for (Rank each : ranks.values()) {
      for (OperationStatistics row : each.report().statistics().byOperation()) {
        rows.computeIfAbsent(OperationWaits.Key.of(row), key -> new ArrayList<>()).add(row);
      }
    }
    return rows.values().stream().map(ReportedGroup::sum).map(waits::snapshot).toList();
  }

  private static OperationStatistics sum(List<OperationStatistics> rows) {
    OperationStatistics first = rows.get(0);
    return new OperationStatistics(
        first.operation(),
        first.sizeClass(),
        first.algorithm(),
        rows.stream().mapToLong(OperationStatistics::count).sum(),
        rows.stream().mapToLong(OperationStatistics::bytes).sum(),
        rows.stream().mapToDouble(OperationStatistics::seconds).sum(),
        rows.stream().mapToDouble(OperationStatistics::medianSeconds).average().orElse(0),
        rows.stream().mapToDouble(OperationStatistics::p99Seconds).max().orElse(0));
  }
}
