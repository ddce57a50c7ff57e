package org.sparkcollectives.spark.internal.driver;

import java.util.HashMap;
import java.util.Map;

/** A group that a {@link StatisticsCollector} watches, and what it has done for it. */
final class FollowedGroup {

  final ReportedGroup group;

  /** When a rank was last named in the log as a straggler. */
  final Map<Integer, Long> warned = new HashMap<>();

  /** The last snapshot that the listeners received; null before the first. */
  GroupSnapshot snapshot;

  boolean changed = true;
  boolean failureTold;
  boolean endTold;
  long toldMillis;

  /** When the group ends because its stage has; 0 while that runs. */
  long endMillis;

  FollowedGroup(ReportedGroup group) {
    this.group = group;
  }
}
