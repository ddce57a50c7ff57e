package org.sparkcollectives.spark.internal.driver;

import org.sparkcollectives.OperationStatistics;

/**
 * What the driver knows of the operations of a group of one kind, size and algorithm.
 *
 * @param sums over all ranks
 * @param compared how many of the operations were compared
 * @param waitedSeconds how long a rank waited in one of these for the rank that came last, the mean
 *     of all ranks and operations
 */
public record OperationSnapshot(OperationStatistics sums, long compared, double waitedSeconds) {}
