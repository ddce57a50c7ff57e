package org.sparkcollectives.spark.internal.metrics;

import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.spark.internal.protocol.ProcessStatistics;

/**
 * The figures behind the metrics: of one executor, or of all executors of an application.
 *
 * @param operations how many operations have succeeded on ranks
 * @param failures how many have failed
 * @param bytes the bytes of those that have succeeded
 * @param collectiveSeconds how long ranks had an operation pending
 * @param outsideSeconds how long ranks had none, between operations
 * @param pending how many operations are pending
 * @param longestPendingSeconds for how long the oldest of them is
 * @param activeGroups how many groups are open; on an executor each rank counts its own
 * @param process what the processes hold
 */
public record Figures(
    long operations,
    long failures,
    long bytes,
    double collectiveSeconds,
    double outsideSeconds,
    long pending,
    double longestPendingSeconds,
    int activeGroups,
    ProcessStatistics process) {

  /** The figures before the first operation. */
  public static final Figures NONE = new Figures(0, 0, 0, 0, 0, 0, 0, 0, ProcessStatistics.NONE);

  /**
   * Returns these figures and those of a rank in a group.
   *
   * @param open whether the rank has not left the group
   */
  public Figures plus(GroupStatistics rank, boolean open) {
    return new Figures(
        operations + rank.operations(),
        failures + rank.failures(),
        bytes + rank.bytes(),
        collectiveSeconds + rank.collectiveSeconds(),
        outsideSeconds + rank.outsideSeconds(),
        pending + (open ? rank.pending() : 0),
        open
            ? Math.max(longestPendingSeconds, rank.longestPendingSeconds())
            : longestPendingSeconds,
        activeGroups + (open ? 1 : 0),
        process);
  }

  /** Returns these figures with those of a process. */
  public Figures with(ProcessStatistics other) {
    return new Figures(
        operations,
        failures,
        bytes,
        collectiveSeconds,
        outsideSeconds,
        pending,
        longestPendingSeconds,
        activeGroups,
        other);
  }
}
