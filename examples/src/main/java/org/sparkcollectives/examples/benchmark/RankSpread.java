package org.sparkcollectives.examples.benchmark;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Where the ranks of a world run.
 *
 * @param hosts the host of each
 * @param processes an identifier of the JVM of each
 */
record RankSpread(List<String> hosts, List<String> processes) {

  /**
   * Returns some of the ranks, spread over hosts, and on these over processes, as evenly as
   * possible; in ascending order, rank 0 among them.
   */
  int[] choose(int count) {
    Map<String, List<Integer>> byProcess = new LinkedHashMap<>();
    Map<String, List<List<Integer>>> byHost = new LinkedHashMap<>();
    for (int rank = 0; rank < processes.size(); rank++) {
      String host = hosts.get(rank);
      byProcess
          .computeIfAbsent(
              processes.get(rank),
              process -> {
                List<Integer> ranks = new ArrayList<>();
                byHost.computeIfAbsent(host, name -> new ArrayList<>()).add(ranks);
                return ranks;
              })
          .add(rank);
    }
    List<List<Integer>> perHost = byHost.values().stream().map(RankSpread::alternate).toList();
    return alternate(perHost).stream().limit(count).mapToInt(Integer::intValue).sorted().toArray();
  }

  /** Returns the first element of each list, then the second of each, and so on. */
  private static <T> List<T> alternate(Collection<List<T>> lists) {
    List<T> all = new ArrayList<>();
    int longest = lists.stream().mapToInt(List::size).max().orElse(0);
    for (int i = 0; i < longest; i++) {
      for (List<T> each : lists) {
        if (i < each.size()) {
          all.add(each.get(i));
        }
      }
    }
    return all;
  }

  /** Returns in how many processes these ranks run. */
  int processesOf(int[] ranks) {
    return distinct(processes, ranks);
  }

  /** Returns on how many hosts these ranks run. */
  int hostsOf(int[] ranks) {
    return distinct(hosts, ranks);
  }

  private static int distinct(List<String> places, int[] ranks) {
    Map<String, Integer> found = new HashMap<>();
    for (int rank : ranks) {
      found.putIfAbsent(places.get(rank), rank);
    }
    return found.size();
  }

  /** Returns whether a rank is the first of {@code ranks}, in their order, in its process. */
  boolean isFirstOfProcess(int rank, int[] ranks) {
    for (int each : ranks) {
      if (processes.get(each).equals(processes.get(rank))) {
        return each == rank;
      }
    }
    return false;
  }
}
