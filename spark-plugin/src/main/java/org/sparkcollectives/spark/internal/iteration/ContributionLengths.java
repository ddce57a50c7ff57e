package org.sparkcollectives.spark.internal.iteration;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/** Finds out, before any contribution is sent, whether those of all ranks have one length. */
final class ContributionLengths {

  /** The length on a rank that has no rows, and contributes as many zeros as the others need. */
  static final long NO_ROWS = -1;

  private static final int MOST_NAMED = 10;

  private ContributionLengths() {}

  /**
   * Returns the one length. A collective: called by all ranks, and blocks until all have.
   *
   * @param own of this rank, or {@link #NO_ROWS}
   * @throws IllegalArgumentException on all ranks if lengths differ, or if no rank has rows
   */
  static int agree(ProcessGroup group, long own) {
    long[] all = new long[group.size()];
    group.allGather(Tensor.of(all), Tensor.of(own)).await();
    return agreed(all);
  }

  /**
   * Returns the one length.
   *
   * @param all by rank
   * @throws IllegalArgumentException if lengths differ, or if no rank has rows
   */
  static int agreed(long... all) {
    Map<Long, List<Integer>> ranks = new TreeMap<>();
    for (int rank = 0; rank < all.length; rank++) {
      if (all[rank] != NO_ROWS) {
        ranks.computeIfAbsent(all[rank], length -> new ArrayList<>()).add(rank);
      }
    }
    if (ranks.isEmpty()) {
      throw new IllegalArgumentException(
          "None of the " + all.length + " partitions has a row, so there is nothing to iterate on");
    }
    if (ranks.size() > 1) {
      throw new IllegalArgumentException(
          "The contributions differ in length, and cannot be added up: "
              + ranks.entrySet().stream()
                  .map(each -> each.getKey() + " numbers on " + named(each.getValue()))
                  .collect(Collectors.joining(", "))
              + ". All ranks must return arrays of one length, whatever rows they have");
    }
    return Math.toIntExact(ranks.keySet().iterator().next());
  }

  private static String named(List<Integer> ranks) {
    String names =
        ranks.stream().limit(MOST_NAMED).map(String::valueOf).collect(Collectors.joining(", "));
    if (ranks.size() > MOST_NAMED) {
      return "ranks " + names + " and " + (ranks.size() - MOST_NAMED) + " others";
    }
    return (ranks.size() == 1 ? "rank " : "ranks ") + names;
  }
}
