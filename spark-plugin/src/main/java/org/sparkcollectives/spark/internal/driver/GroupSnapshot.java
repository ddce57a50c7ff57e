package org.sparkcollectives.spark.internal.driver;

import java.util.List;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.spark.event.ComparedOperation;
import org.sparkcollectives.spark.internal.metrics.OperationTotals;

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
 * @param byOperation the rows of all ranks, by kind, size and algorithm: their counts, bytes and
 *     seconds are added up, the median is the mean of the ranks' medians, and the 99th percentile
 *     the largest of theirs
 * @param newest the newest operations in which arrivals have been compared, oldest first
 * @param progress what the program says of its progress, on the lowest rank that says something
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
    OperationTotals sums,
    List<OperationSnapshot> byOperation,
    List<ComparedOperation> newest,
    GroupStatistics.Progress progress,
    long samples,
    List<RankSnapshot> ranks) {

  public GroupSnapshot {
    byOperation = List.copyOf(byOperation);
    newest = List.copyOf(newest);
    ranks = List.copyOf(ranks);
  }
}
