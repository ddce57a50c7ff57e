package org.sparkcollectives.spark.internal.driver;

import org.sparkcollectives.spark.internal.metrics.Figures;
import org.sparkcollectives.spark.internal.protocol.ProcessStatistics;

/**
 * Sums over all executors of an application, since it began.
 *
 * @param groups over all groups, those that have ended included
 * @param activeGroups how many groups are open
 * @param activeRanks how many ranks are in them, each counted once for each group
 * @param stragglers how many of them are slower than the others
 * @param processes what the executors' processes hold
 */
public record ApplicationSums(
    GroupSnapshot.Sums groups,
    int activeGroups,
    int activeRanks,
    int stragglers,
    ProcessStatistics processes) {

  /** Returns the figures of the driver's metrics. */
  Figures figures() {
    return new Figures(
        groups.operations(),
        groups.failures(),
        groups.bytes(),
        groups.collectiveSeconds(),
        groups.outsideSeconds(),
        groups.pending(),
        groups.longestPendingSeconds(),
        activeGroups,
        processes);
  }

  /** The sums before the first report. */
  static final ApplicationSums NONE =
      new ApplicationSums(GroupSnapshot.Sums.NONE, 0, 0, 0, ProcessStatistics.NONE);
}
