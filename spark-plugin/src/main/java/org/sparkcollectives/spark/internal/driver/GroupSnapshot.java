package org.sparkcollectives.spark.internal.driver;

import java.util.List;
import org.sparkcollectives.OperationStatistics;

/**
 * What the driver knows of a group, from the newest reports of its ranks.
 *
 * @param group the group's name
 * @param stage the stage whose tasks are its ranks
 * @param attempt the attempt of the stage
 * @param size the number of its ranks
 * @param startMillis when the first rank reported, since the epoch
 * @param updateMillis when the newest report came
 * @param ended whether all ranks have left it, or its stage has ended
 * @param failed whether a rank has reported that it failed
 * @param sums over all ranks
 * @param byOperation the rows of all ranks: their counts, bytes and seconds are added up, the
 *     median is the mean of the ranks' medians, and the 99th percentile the largest of theirs
 * @param samples in how many operations arrivals have been compared
 * @param ranks those that have reported, in the order of their numbers
 */
public record GroupSnapshot(
    String group,
    int stage,
    int attempt,
    int size,
    long startMillis,
    long updateMillis,
    boolean ended,
    boolean failed,
    Sums sums,
    List<OperationStatistics> byOperation,
    long samples,
    List<RankSnapshot> ranks) {

  public GroupSnapshot {
    byOperation = List.copyOf(byOperation);
    ranks = List.copyOf(ranks);
  }

  /**
   * Sums over ranks, see {@link org.sparkcollectives.GroupStatistics}.
   *
   * @param longestPendingSeconds the longest of them
   */
  public record Sums(
      long operations,
      long failures,
      long bytes,
      double collectiveSeconds,
      double outsideSeconds,
      long pending,
      double longestPendingSeconds) {

    /** No operations. */
    static final Sums NONE = new Sums(0, 0, 0, 0, 0, 0, 0);

    Sums plus(Sums other) {
      return new Sums(
          operations + other.operations,
          failures + other.failures,
          bytes + other.bytes,
          collectiveSeconds + other.collectiveSeconds,
          outsideSeconds + other.outsideSeconds,
          pending + other.pending,
          Math.max(longestPendingSeconds, other.longestPendingSeconds));
    }

    /** Returns which part of the time at least one operation was pending, from 0 to 1. */
    public double collectiveShare() {
      double all = collectiveSeconds + outsideSeconds;
      return all <= 0 ? 0 : collectiveSeconds / all;
    }
  }
}
