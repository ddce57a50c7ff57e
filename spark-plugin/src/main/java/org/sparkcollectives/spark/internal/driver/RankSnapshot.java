package org.sparkcollectives.spark.internal.driver;

import org.sparkcollectives.GroupStatistics;

/**
 * What the driver knows of a rank in a group.
 *
 * @param rank the rank in the group
 * @param host the address of its executor
 * @param executorId its executor
 * @param taskAttemptId its task
 * @param ended whether it has left the group
 * @param statistics its newest sums
 * @param arrivedLast in how many of the samples of the group it came last
 * @param waitedSeconds how long the median rank has waited for it in these samples
 * @param slowness by how much its own code took longer than that of the median rank, over the
 *     newest samples: 0.1 is a tenth more; 0 where there are too few samples
 * @param straggler whether it is certainly slower, by a tenth or more
 */
public record RankSnapshot(
    int rank,
    String host,
    String executorId,
    long taskAttemptId,
    boolean ended,
    GroupStatistics statistics,
    long arrivedLast,
    double waitedSeconds,
    double slowness,
    boolean straggler) {}
