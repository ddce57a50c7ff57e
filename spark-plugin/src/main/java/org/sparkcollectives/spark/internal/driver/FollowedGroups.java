package org.sparkcollectives.spark.internal.driver;

import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.spark.internal.metrics.OperationTotals;
import org.sparkcollectives.spark.internal.protocol.RankReport;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;

/**
 * The groups that a {@link StatisticsCollector} watches, the oldest first. Groups that have ended
 * are forgotten when there are too many, or their ranks are; the sums of their operations are kept.
 * For one thread.
 */
final class FollowedGroups {

  /** The most groups. */
  static final int MOST = 1_000;

  private static final int MOST_ENDED = 200;

  /** The ranks of all ended groups but the newest: each takes some KiB with its samples. */
  private static final int MOST_ENDED_RANKS = 2_000;

  private final Map<Key, FollowedGroup> groups = new LinkedHashMap<>();
  private OperationTotals forgotten = OperationTotals.NONE;

  private record Key(StageAttempt stage, String group) {
    static Key of(RankReport report) {
      return new Key(report.stage(), report.statistics().group());
    }
  }

  /** Returns all groups. */
  Collection<FollowedGroup> all() {
    return groups.values();
  }

  /** Returns the sums of the groups that were forgotten. */
  OperationTotals forgotten() {
    return forgotten;
  }

  /** Returns the group of a report; null if it is not watched. */
  FollowedGroup get(RankReport report) {
    return groups.get(Key.of(report));
  }

  /** Adds the group of a report, and returns it; null if {@link #MOST} groups are open. */
  FollowedGroup add(RankReport report, long nowMillis) {
    if (groups.size() >= MOST && !forgetEnded()) {
      return null;
    }
    FollowedGroup made =
        new FollowedGroup(new ReportedGroup(report.stage(), report.statistics(), nowMillis));
    groups.put(Key.of(report), made);
    return made;
  }

  /** Forgets the oldest group that has ended, and returns whether there was one. */
  private boolean forgetEnded() {
    for (Iterator<FollowedGroup> each = groups.values().iterator(); each.hasNext(); ) {
      FollowedGroup oldest = each.next();
      if (oldest.endTold) {
        forgotten = forgotten.plus(oldest.snapshot.sums());
        each.remove();
        return true;
      }
    }
    return false;
  }

  /** Forgets the oldest groups that have ended, until the rest and their ranks are few enough. */
  void forgetSurplus() {
    List<FollowedGroup> ended = groups.values().stream().filter(each -> each.endTold).toList();
    int count = ended.size();
    long ranks = ended.stream().mapToLong(each -> each.snapshot.ranks().size()).sum();
    for (FollowedGroup oldest : ended) {
      if (count <= MOST_ENDED && (ranks <= MOST_ENDED_RANKS || count == 1)) {
        return;
      }
      forgetEnded();
      count--;
      ranks -= oldest.snapshot.ranks().size();
    }
  }
}
