package org.sparkcollectives.spark.internal.driver;

/**
 * Hears of the groups of an application as the driver gets to know them from its executors.
 *
 * <p>One thread calls all listeners, one call at a time; it belongs to the driver's store. A
 * listener should be quick. What it throws is logged.
 */
public interface StatisticsListener {

  /** Called once for each group, when the first of its ranks has reported. */
  default void onGroupMade(GroupSnapshot group) {}

  /**
   * Called with the newest sums of a group in which operations have ended since the last call; at
   * most once in each {@code spark.collectives.statistics.interval}.
   */
  default void onStatistics(GroupSnapshot group) {}

  /** Called once when all ranks have left a group, or when its stage has ended. */
  default void onGroupEnded(GroupSnapshot group) {}

  /** Called once for each group that fails, when its ranks have agreed on the first cause. */
  default void onFailure(GroupFailure failure) {}
}
