package org.sparkcollectives.recorder;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.GroupStatus;

/**
 * Finds out from the dumps of a world's ranks what went wrong: which rank is missing, which called
 * something else than the others, which lags, and which messages wait for their peer. The findings
 * are plain sentences, the most important first.
 */
public final class TraceAnalysis {

  private final List<FlightDump> dumps;
  private final List<String> findings = new ArrayList<>();

  private final boolean namesMissing;
  private final int mismatchCap;

  private TraceAnalysis(List<FlightDump> dumps, boolean namesMissing, int mismatchCap) {
    this.dumps = dumps;
    this.namesMissing = namesMissing;
    this.mismatchCap = mismatchCap;
  }

  /**
   * Returns the findings, a sentence each; none if nothing is wrong.
   *
   * @param dumps one for each rank, as far as there are any
   */
  public static List<String> of(List<FlightDump> dumps) {
    return of(dumps, true, 1);
  }

  /**
   * Returns the findings, a sentence each.
   *
   * @param namesMissing whether it is a finding that the dump of a rank is missing
   * @param mismatchCap how many mismatches of a group are shown
   */
  static List<String> of(List<FlightDump> dumps, boolean namesMissing, int mismatchCap) {
    return new TraceAnalysis(dumps, namesMissing, mismatchCap).findings();
  }

  private List<String> findings() {
    Map<String, GroupStatus> groups = new LinkedHashMap<>();
    Map<Integer, FlightDump> byRank = new TreeMap<>();
    for (FlightDump dump : dumps) {
      byRank.put(dump.rank(), dump);
      dump.groups().forEach(group -> groups.putIfAbsent(group.name(), group));
    }
    if (namesMissing) {
      missingDumps(groups.values().stream().toList(), byRank);
    }
    for (GroupStatus group : groups.values()) {
      List<FlightDump> members =
          group.ranks().stream().filter(byRank::containsKey).map(byRank::get).toList();
      GroupTrace trace = new GroupTrace(group, members);
      findings.addAll(trace.mismatches(mismatchCap));
      findings.addAll(trace.unfinished());
      findings.addAll(trace.messages());
      findings.addAll(trace.differentResults());
      findings.addAll(trace.slowest());
    }
    return List.copyOf(findings);
  }

  private void missingDumps(List<GroupStatus> groups, Map<Integer, FlightDump> byRank) {
    List<Integer> missing =
        groups.stream()
            .flatMap(group -> group.ranks().stream())
            .filter(rank -> !byRank.containsKey(rank))
            .distinct()
            .sorted()
            .toList();
    if (!missing.isEmpty()) {
      findings.add(
          "There is no dump of "
              + Ranks.named(missing)
              + ": the process is gone, could not submit its dump, or had left before.");
    }
  }
}
