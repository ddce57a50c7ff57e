package org.sparkcollectives.spark.internal.ui;

import org.apache.spark.util.kvstore.KVIndex;
import org.sparkcollectives.spark.event.GroupMade;
import org.sparkcollectives.spark.event.GroupSums;
import org.sparkcollectives.spark.event.RankPlace;

/**
 * A group in the list of groups. Never changed once it is in the store, because pages read it while
 * further events arrive; Jackson writes it where the store is on disk.
 */
public final class GroupRow {

  /** The state of a group. */
  public enum State {
    /** The group can carry out operations. */
    OPEN,
    /** The group has failed. */
    FAILED,
    /** The ranks have closed the group. */
    CLOSED
  }

  /** The index in which the group that is to be removed first comes first. */
  static final String RETENTION = "retention";

  /** Later than any group began, so that groups that have ended come before. */
  private static final long AFTER_ALL = 1L << 56;

  @KVIndex public long id;
  public String name = "";
  public int stage = -1;
  public int stageAttempt;
  public int size;
  public int hosts;

  /** How many pairs of ranks reach each other in a JVM. */
  public int heap;

  /** How many pairs of ranks reach each other over shared memory. */
  public int sharedMemory;

  /** How many pairs of ranks reach each other over TCP. */
  public int tcp;

  public State state = State.OPEN;
  public long since;

  /** When the group ended, in milliseconds since 1970; 0 while it is open. */
  public long ended;

  /** How many operations have succeeded, over all ranks. */
  public long operations;

  /** How many operations have failed, over all ranks. */
  public long failures;

  /** The bytes of the operations, over all ranks. */
  public long bytes;

  public double waitingShare;
  public double insideShare;

  /** Creates an empty row; Jackson fills it. */
  public GroupRow() {}

  /** Creates the row of a group of which no event has been seen yet. */
  GroupRow(long id, String name, long since) {
    this.id = id;
    this.name = name;
    this.since = since;
  }

  /** Returns how many operations have succeeded on a rank, the mean of all. */
  double operationsOfARank() {
    return (double) operations / Math.max(1, size);
  }

  /** Returns where the group comes among those that are removed if there are too many. */
  @KVIndex(RETENTION)
  public long retention() {
    return ended > 0 ? ended : since + AFTER_ALL;
  }

  private GroupRow copy() {
    GroupRow copy = new GroupRow(id, name, since);
    copy.stage = stage;
    copy.stageAttempt = stageAttempt;
    copy.size = size;
    copy.hosts = hosts;
    copy.heap = heap;
    copy.sharedMemory = sharedMemory;
    copy.tcp = tcp;
    copy.state = state;
    copy.ended = ended;
    copy.operations = operations;
    copy.failures = failures;
    copy.bytes = bytes;
    copy.waitingShare = waitingShare;
    copy.insideShare = insideShare;
    return copy;
  }

  /** Returns this row with what the group is made of. */
  GroupRow with(GroupMade made) {
    GroupRow row = copy();
    row.name = made.name();
    row.since = Math.min(since, made.time());
    row.stage = made.stage();
    row.stageAttempt = made.stageAttempt();
    row.size = made.size();
    row.hosts = (int) made.ranks().stream().map(RankPlace::host).distinct().count();
    row.heap = made.ranks().stream().mapToInt(RankPlace::heap).sum() / 2;
    row.sharedMemory = made.ranks().stream().mapToInt(RankPlace::sharedMemory).sum() / 2;
    row.tcp = made.ranks().stream().mapToInt(RankPlace::tcp).sum() / 2;
    return row;
  }

  /** Returns this row with newer sums; with the same if these are older. */
  GroupRow with(GroupSums sums) {
    GroupRow row = copy();
    if (sums.operations() + sums.failures() >= operations + failures) {
      row.operations = sums.operations();
      row.failures = sums.failures();
      row.bytes = sums.bytes();
      row.waitingShare = sums.waitingShare();
      row.insideShare = sums.insideShare();
    }
    return row;
  }

  /** Returns this row with the state of a group that has ended. A failed one stays failed. */
  GroupRow ended(State how, long time) {
    GroupRow row = copy();
    row.state = state == State.FAILED ? State.FAILED : how;
    row.ended = ended > 0 ? ended : time;
    return row;
  }
}
