package org.sparkcollectives.spark.internal.metrics;

import org.sparkcollectives.GroupStatistics;

/**
 * Sums over ranks, see {@link GroupStatistics}: of a group, of an executor or of an application.
 *
 * @param operations how many operations have succeeded on ranks
 * @param failures how many have failed
 * @param bytes the bytes of those that have succeeded
 * @param collectiveSeconds how long ranks had an operation pending
 * @param outsideSeconds how long ranks had none, between operations
 * @param pending how many operations are pending
 * @param longestPendingSeconds for how long the oldest of them is
 */
public record OperationTotals(
    long operations,
    long failures,
    long bytes,
    double collectiveSeconds,
    double outsideSeconds,
    long pending,
    double longestPendingSeconds) {

  /** No operations. */
  public static final OperationTotals NONE = new OperationTotals(0, 0, 0, 0, 0, 0, 0);

  /**
   * Returns the sums of a rank.
   *
   * @param open whether the rank is in the group; otherwise nothing is pending
   */
  public static OperationTotals of(GroupStatistics rank, boolean open) {
    return new OperationTotals(
        rank.operations(),
        rank.failures(),
        rank.bytes(),
        rank.collectiveSeconds(),
        rank.outsideSeconds(),
        open ? rank.pending() : 0,
        open ? rank.longestPendingSeconds() : 0);
  }

  /** Returns both together; the longest wait is the longer of the two. */
  public OperationTotals plus(OperationTotals other) {
    return new OperationTotals(
        operations + other.operations,
        failures + other.failures,
        bytes + other.bytes,
        collectiveSeconds + other.collectiveSeconds,
        outsideSeconds + other.outsideSeconds,
        pending + other.pending,
        Math.max(longestPendingSeconds, other.longestPendingSeconds));
  }
}
