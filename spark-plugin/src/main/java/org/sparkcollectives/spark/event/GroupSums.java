package org.sparkcollectives.spark.event;

import java.util.List;
import java.util.Map;

/**
 * Sums up the operations of a group since it was made.
 *
 * @param operations how many operations have succeeded, over all ranks
 * @param failures how many have failed, over all ranks
 * @param bytes the bytes of all operations, over all ranks
 * @param pending how many operations were pending, over all ranks
 * @param longestPendingMillis for how long the oldest of them had been
 * @param compared in how many operations it was compared when the ranks arrived
 * @param waitingShare which part of the time of the newest of these operations the ranks waited for
 *     the one that arrived last, from 0 to 1
 * @param insideMillis how long at least one operation was pending on a rank, over all ranks
 * @param outsideMillis how long none was pending, between the first and the last, over all ranks
 * @param byOperation the operations by kind, size and algorithm; at most {@value #MOST_OPERATIONS}
 * @param byRank the ranks; at most {@value GroupMade#MOST_RANKS}
 * @param training what the program reports of its training, such as its loss; empty if it reports
 *     nothing
 */
public record GroupSums(
    long operations,
    long failures,
    long bytes,
    long pending,
    long longestPendingMillis,
    long compared,
    double waitingShare,
    long insideMillis,
    long outsideMillis,
    List<OperationSums> byOperation,
    List<RankSums> byRank,
    Map<String, Double> training) {

  /** The largest number of kinds of operations that an event lists. */
  public static final int MOST_OPERATIONS = 64;

  /** No operations. */
  public static final GroupSums NONE =
      new GroupSums(0, 0, 0, 0, 0, 0, 0, 0, 0, List.of(), List.of(), Map.of());

  public GroupSums {
    byOperation = Bounds.list(byOperation, MOST_OPERATIONS);
    byRank = Bounds.list(byRank, GroupMade.MOST_RANKS);
    training = Bounds.map(training);
  }

  /** Returns which part of the time the ranks were in operations of the group, from 0 to 1. */
  public double insideShare() {
    long all = insideMillis + outsideMillis;
    return all <= 0 ? 0 : (double) insideMillis / all;
  }
}
