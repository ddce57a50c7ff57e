package org.sparkcollectives.spark.internal.metrics;

import org.sparkcollectives.spark.internal.protocol.ProcessStatistics;

/**
 * The figures behind the metrics that the driver and the executors have in common.
 *
 * @param totals over the ranks of one executor, or of all executors of an application
 * @param activeGroups how many groups are open; on an executor each rank counts its own
 * @param process what the processes hold
 */
public record Figures(OperationTotals totals, int activeGroups, ProcessStatistics process) {

  /** The figures before the first operation. */
  public static final Figures NONE = new Figures(OperationTotals.NONE, 0, ProcessStatistics.NONE);
}
