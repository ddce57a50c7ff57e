package org.sparkcollectives.spark.internal.driver;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.spark.event.GroupEnded;
import org.sparkcollectives.spark.event.GroupFailed;
import org.sparkcollectives.spark.event.GroupMade;
import org.sparkcollectives.spark.event.GroupProgress;

/**
 * Posts what the driver knows of groups as events, for the tab "Collectives" and the event log.
 *
 * <p>Nothing is posted for each operation: the sums of a group at most once in an interval, which
 * grows with the number of ranks, because the event does. So a group writes at most a few KiB in a
 * second. A program that makes groups all the time has only some of them posted, unless they fail.
 * One thread calls this.
 */
final class GroupEvents implements StatisticsListener {

  /** The interval has as many seconds as the ranks of a group over this. */
  static final int RANKS_IN_A_SECOND = 16;

  /** How many new groups are posted at once. */
  static final int NEW_AT_ONCE = 200;

  /** How many new groups are posted in a second, after those. */
  static final int NEW_IN_A_SECOND = 2;

  private static final Logger LOG = LoggerFactory.getLogger(GroupEvents.class);

  /** How many groups that have ended are remembered, for a failure that comes late. */
  private static final int MOST_ENDED = 1000;

  private final Consumer<SparkListenerEvent> bus;
  private final LongSupplier millis;
  private final long intervalMillis;
  private final Map<Key, Posted> groups = new LinkedHashMap<>();
  private final EventRate newGroups;
  private long made;

  /** How many groups have ended without an event. */
  private long leftOut;

  private record Key(String group, int stage, int attempt) {}

  /** Remembers which events of a group were posted. */
  private static final class Posted {
    private final long id;

    /** How many ranks the last event listed. */
    private int ranks;

    /** When the sums were last posted; the first are posted at once. */
    private long atMillis = Long.MIN_VALUE / 2;

    /**
     * The newest sums, if they have not been posted; of a group that is not shown, its beginning.
     */
    private GroupSnapshot unposted;

    private boolean ended;

    /** Whether the group has events, which it has not if too many groups are made. */
    private boolean shown;

    private Posted(long id) {
      this.id = id;
    }
  }

  /**
   * Creates a listener that has posted nothing.
   *
   * @param bus receives the events
   * @param millis the clock, since the epoch
   * @param interval the shortest time between two sums of a group
   */
  GroupEvents(Consumer<SparkListenerEvent> bus, LongSupplier millis, Duration interval) {
    this.bus = bus;
    this.millis = millis;
    this.intervalMillis = interval.toMillis();
    this.newGroups = new EventRate(millis, NEW_AT_ONCE, NEW_IN_A_SECOND);
  }

  @Override
  public void onGroupMade(GroupSnapshot group) {
    Posted posted = posted(group);
    if (shows(posted)) {
      postMade(group, posted);
    } else {
      posted.unposted = group;
    }
  }

  private boolean shows(Posted posted) {
    posted.shown = posted.shown || newGroups.allows();
    return posted.shown;
  }

  @Override
  public void onStatistics(GroupSnapshot group) {
    posted(group).unposted = group;
    long now = millis.getAsLong();
    // Others may have sums that were too early, and no operation since.
    for (Posted each : List.copyOf(groups.values())) {
      if (each.unposted != null
          && now - each.atMillis >= interval(each.unposted.size())
          && shows(each)) {
        postProgress(each, now);
      }
    }
  }

  private long interval(int ranks) {
    return Math.max(intervalMillis, Duration.ofSeconds(ranks / RANKS_IN_A_SECOND).toMillis());
  }

  @Override
  public void onGroupEnded(GroupSnapshot group) {
    Posted posted = posted(group);
    posted.ended = true;
    posted.unposted = null;
    if (posted.shown || group.failed() || shows(posted)) {
      postMade(group, posted);
      bus.accept(
          new GroupEnded(
              posted.id,
              group.group(),
              millis.getAsLong(),
              group.failed(),
              SnapshotSums.of(group)));
    } else if (leftOut++ % NEW_AT_ONCE == 0) {
      LOG.info(
          "{} groups so far are neither in the tab Collectives nor in the event log, because more"
              + " than {} new ones a second are made. Their operations are in the metrics",
          leftOut,
          NEW_IN_A_SECOND);
    }
    forgetEnded();
  }

  @Override
  public void onFailure(GroupFailure failure) {
    Posted posted = posted(new Key(failure.group(), failure.stage(), failure.attempt()));
    posted.shown = true;
    if (posted.unposted != null) {
      postMade(posted.unposted, posted);
    }
    bus.accept(
        new GroupFailed(
            posted.id,
            failure.group(),
            failure.timeMillis(),
            failure.rank(),
            failure.host(),
            failure.executorId(),
            failure.kind(),
            failure.text(),
            failure.dump(),
            failure.finding()));
  }

  private void postProgress(Posted posted, long now) {
    GroupSnapshot group = posted.unposted;
    postMade(group, posted);
    posted.unposted = null;
    posted.atMillis = now;
    bus.accept(new GroupProgress(posted.id, group.group(), now, SnapshotSums.of(group)));
  }

  /** Posts where the ranks are: once for those that are known first, and once for all. */
  private void postMade(GroupSnapshot group, Posted posted) {
    int known = group.ranks().size();
    boolean more = known > posted.ranks && (known == group.size() || group.ended());
    if (posted.ranks > 0 && !more) {
      return;
    }
    posted.ranks = known;
    bus.accept(
        new GroupMade(
            posted.id,
            group.group(),
            group.startMillis(),
            group.stage(),
            group.attempt(),
            group.size(),
            SnapshotSums.places(group)));
  }

  private Posted posted(GroupSnapshot group) {
    return posted(new Key(group.group(), group.stage(), group.attempt()));
  }

  private Posted posted(Key key) {
    return groups.computeIfAbsent(key, each -> new Posted(++made));
  }

  private void forgetEnded() {
    List<Key> ended = new ArrayList<>();
    groups.forEach(
        (key, posted) -> {
          if (posted.ended) {
            ended.add(key);
          }
        });
    for (int i = 0; i < ended.size() - MOST_ENDED; i++) {
      groups.remove(ended.get(i));
    }
  }
}
