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
 * @param training how far the program has come, {@value #DONE} of {@value #TOTAL}; empty if it does
 *     not say so
 * @param trainingText what else the program says of that
 * @param newest the newest operations that were compared, oldest first; at most {@value
 *     #MOST_NEWEST}
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
    Map<String, Double> training,
    String trainingText,
    List<ComparedOperation> newest) {

  /** The largest number of kinds of operations that an event lists. */
  public static final int MOST_OPERATIONS = 64;

  /** The largest number of operations that an event lists one by one. */
  public static final int MOST_NEWEST = 16;

  /** The name under which {@link #training} has how much is done. */
  public static final String DONE = "done";

  /** The name under which {@link #training} has of how much. */
  public static final String TOTAL = "total";

  private static final int MOST_TEXT_CHARACTERS = 256;

  /** No operations. */
  public static final GroupSums NONE =
      new GroupSums(0, 0, 0, 0, 0, 0, 0, 0, 0, List.of(), List.of(), Map.of(), "", List.of());

  public GroupSums {
    byOperation = Bounds.list(byOperation, MOST_OPERATIONS);
    byRank = Bounds.list(byRank, GroupMade.MOST_RANKS);
    training = Bounds.map(training);
    trainingText = Bounds.text(trainingText, MOST_TEXT_CHARACTERS);
    newest = Bounds.list(newest, MOST_NEWEST);
  }

  /** Returns which part of the time the ranks were in operations of the group, from 0 to 1. */
  public double insideShare() {
    long all = insideMillis + outsideMillis;
    return all <= 0 ? 0 : (double) insideMillis / all;
  }
}
