package org.sparkcollectives.spark.internal.ui;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.util.kvstore.KVIndex;
import org.sparkcollectives.spark.event.GroupFailed;
import org.sparkcollectives.spark.event.GroupMade;
import org.sparkcollectives.spark.event.GroupSums;
import org.sparkcollectives.spark.event.RankPlace;

/**
 * What the page of one group shows beside its {@link GroupRow}. Never changed once in the store.
 */
public final class GroupDetails {

  /** How many intervals the timeline has. */
  static final int MOST_INTERVALS = 120;

  /** How many failures of a group are shown; the first is the cause of the others. */
  static final int MOST_FAILURES = 8;

  @KVIndex public long id;
  public List<RankPlace> ranks = List.of();
  public GroupSums sums = GroupSums.NONE;
  public List<Interval> intervals = List.of();
  public List<GroupFailed> failures = List.of();

  /** When the sums were taken, in milliseconds since 1970. */
  public long time;

  /**
   * What a group did between two events.
   *
   * @param from when it began, in milliseconds since 1970
   * @param to when it ended
   * @param operations how many operations succeeded, over all ranks
   * @param bytes their bytes, over all ranks
   * @param insideShare which part of the time the ranks were in operations
   * @param waitingShare which part of that they waited for the one that arrived last
   */
  public record Interval(
      long from, long to, long operations, long bytes, double insideShare, double waitingShare) {}

  /** Creates an empty row; Jackson fills it. */
  public GroupDetails() {}

  /** Creates the details of a group of which no event has been seen yet. */
  GroupDetails(long id, long time) {
    this.id = id;
    this.time = time;
  }

  private GroupDetails copy() {
    GroupDetails copy = new GroupDetails(id, time);
    copy.ranks = ranks;
    copy.sums = sums;
    copy.intervals = intervals;
    copy.failures = failures;
    return copy;
  }

  GroupDetails with(GroupMade made) {
    GroupDetails details = copy();
    details.ranks = made.ranks();
    details.time = Math.max(time, made.time());
    return details;
  }

  /**
   * Returns these details with newer sums, and the interval between; the same if these are older.
   */
  GroupDetails with(GroupSums newer, long now) {
    GroupDetails details = copy();
    long operations = newer.operations() - sums.operations();
    if (operations < 0) {
      return details;
    }
    details.sums = newer;
    details.time = now;
    if (operations > 0 && now > time) {
      details.intervals = appended(intervals, interval(newer, now), MOST_INTERVALS);
    }
    return details;
  }

  private Interval interval(GroupSums newer, long now) {
    long inside = newer.insideMillis() - sums.insideMillis();
    long outside = newer.outsideMillis() - sums.outsideMillis();
    return new Interval(
        time,
        now,
        newer.operations() - sums.operations(),
        newer.bytes() - sums.bytes(),
        share(inside, inside + outside),
        Math.max(0, Math.min(1, newer.waitingShare())));
  }

  private static double share(long part, long all) {
    return all <= 0 ? 0 : Math.max(0, Math.min(1, (double) part / all));
  }

  GroupDetails with(GroupFailed failed) {
    GroupDetails details = copy();
    if (failures.size() < MOST_FAILURES) {
      details.failures = appended(failures, failed, MOST_FAILURES);
    }
    return details;
  }

  private static <T> List<T> appended(List<T> list, T next, int most) {
    List<T> all = new ArrayList<>(list);
    all.add(next);
    return List.copyOf(all.subList(Math.max(0, all.size() - most), all.size()));
  }
}
