package org.sparkcollectives.spark.internal.driver;

import org.sparkcollectives.spark.internal.metrics.Figures;

/**
 * Sums over all executors of an application, since it began.
 *
 * @param figures over all groups, those that have ended included
 * @param activeRanks how many ranks are in open groups, each counted once for each group
 * @param stragglers how many of them are slower than the others
 * @param progress which part of its work the program has done, from 0 to 1, as the newest group has
 *     it that reports its progress; 0 if none does
 */
public record ApplicationSums(Figures figures, int activeRanks, int stragglers, double progress) {

  /** The sums before the first report. */
  static final ApplicationSums NONE = new ApplicationSums(Figures.NONE, 0, 0, 0);
}
