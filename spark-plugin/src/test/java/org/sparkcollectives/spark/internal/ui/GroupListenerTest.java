package org.sparkcollectives.spark.internal.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.status.KVUtils;
import org.apache.spark.util.kvstore.InMemoryStore;
import org.apache.spark.util.kvstore.KVStoreSerializer;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.spark.event.GroupEnded;
import org.sparkcollectives.spark.event.GroupFailed;
import org.sparkcollectives.spark.event.GroupMade;
import org.sparkcollectives.spark.event.GroupProgress;
import org.sparkcollectives.spark.event.GroupSums;
import org.sparkcollectives.spark.event.LibraryStarted;
import org.sparkcollectives.spark.event.QuorumFormed;
import org.sparkcollectives.spark.event.RankPlace;
import org.sparkcollectives.spark.event.ReplicaPlace;
import org.sparkcollectives.spark.event.RunEnded;
import org.sparkcollectives.spark.internal.ui.GroupDetails.Interval;
import scala.Option;

/** Tests which rows the events of groups and of elastic stages become. */
class GroupListenerTest {

  private final GroupStore store = new GroupStore(new InMemoryStore());
  private final GroupListener listener = new GroupListener(store, 3);

  private static GroupMade made(long id, long time) {
    return new GroupMade(
        id,
        "world " + id,
        time,
        3,
        1,
        3,
        List.of(
            new RankPlace(0, "a", "1", 1, 0, 1),
            new RankPlace(1, "a", "1", 1, 0, 1),
            new RankPlace(2, "b", "2", 0, 0, 2)));
  }

  private static GroupSums sums(long operations, double waitingShare, long inside, long all) {
    return new GroupSums(
        operations,
        0,
        operations * 100,
        0,
        0,
        8,
        waitingShare,
        inside,
        all - inside,
        List.of(),
        List.of(),
        Map.of(),
        "",
        List.of());
  }

  private static GroupFailed failed(long id, long time, int rank) {
    return new GroupFailed(id, "world " + id, time, rank, "b", "2", "EXCEPTION", "boom", "/d", "");
  }

  @Test
  void aGroupIsARowWithItsRanksHostsAndPaths() {
    listener.onOtherEvent(made(1, 1000));
    GroupRow row = store.group(1).orElseThrow();
    assertThat(row.name).isEqualTo("world 1");
    assertThat(row.stage).isEqualTo(3);
    assertThat(row.stageAttempt).isEqualTo(1);
    assertThat(row.size).isEqualTo(3);
    assertThat(row.hosts).isEqualTo(2);
    assertThat(GroupTexts.paths(row)).isEqualTo("heap 1, tcp 2");
    assertThat(row.state).isEqualTo(GroupRow.State.OPEN);
    assertThat(row.since).isEqualTo(1000);
    assertThat(store.details(1).orElseThrow().ranks).hasSize(3);
  }

  @Test
  void sumsReplaceThoseBeforeAndTheDifferenceIsAnInterval() {
    listener.onOtherEvent(made(1, 1000));
    listener.onOtherEvent(new GroupProgress(1, "world 1", 11_000, sums(10, 0.25, 500, 1000)));
    listener.onOtherEvent(new GroupProgress(1, "world 1", 21_000, sums(30, 0.75, 600, 2000)));
    GroupRow row = store.group(1).orElseThrow();
    assertThat(row.operations).isEqualTo(30);
    assertThat(row.bytes).isEqualTo(3000);
    assertThat(row.waitingShare).isEqualTo(0.75);
    assertThat(row.insideShare).isEqualTo(0.3);
    assertThat(store.details(1).orElseThrow().intervals)
        .containsExactly(
            new Interval(1000, 11_000, 10, 1000, 0.5, 0.25),
            new Interval(11_000, 21_000, 20, 2000, 0.1, 0.75));
  }

  @Test
  void sumsThatAreOlderChangeNothing() {
    listener.onOtherEvent(made(1, 1000));
    listener.onOtherEvent(new GroupProgress(1, "world 1", 11_000, sums(10, 0.25, 500, 1000)));
    listener.onOtherEvent(new GroupEnded(1, "world 1", 12_000, false, GroupSums.NONE));
    assertThat(store.group(1).orElseThrow().operations).isEqualTo(10);
    assertThat(store.details(1).orElseThrow().sums.operations()).isEqualTo(10);
    assertThat(store.details(1).orElseThrow().intervals).hasSize(1);
  }

  @Test
  void aGroupThatFailedStaysFailedAndKeepsItsFirstCause() {
    listener.onOtherEvent(made(1, 1000));
    listener.onOtherEvent(failed(1, 2000, 2));
    listener.onOtherEvent(failed(1, 2500, 0));
    listener.onOtherEvent(new GroupEnded(1, "world 1", 3000, false, GroupSums.NONE));
    GroupRow row = store.group(1).orElseThrow();
    assertThat(row.state).isEqualTo(GroupRow.State.FAILED);
    assertThat(row.ended).isEqualTo(2000);
    assertThat(store.details(1).orElseThrow().failures.get(0).rank()).isEqualTo(2);
    for (int i = 0; i < 100; i++) {
      listener.onOtherEvent(failed(1, 4000, 0));
    }
    assertThat(store.details(1).orElseThrow().failures)
        .hasSize(GroupDetails.MOST_FAILURES)
        .first()
        .satisfies(first -> assertThat(first.rank()).isEqualTo(2));
  }

  @Test
  void aGroupWhoseBeginningWasDroppedIsShown() {
    listener.onOtherEvent(new GroupProgress(9, "world 9", 5000, sums(10, 0.25, 500, 1000)));
    listener.onOtherEvent(new GroupEnded(9, "world 9", 6000, false, sums(12, 1, 1, 1)));
    GroupRow row = store.group(9).orElseThrow();
    assertThat(row.name).isEqualTo("world 9");
    assertThat(row.operations).isEqualTo(12);
    assertThat(row.state).isEqualTo(GroupRow.State.CLOSED);
  }

  @Test
  void theEndOfTheApplicationClosesGroups() {
    listener.onOtherEvent(made(1, 1000));
    listener.onOtherEvent(made(2, 1000));
    listener.onOtherEvent(failed(2, 2000, 1));
    listener.onApplicationEnd(new SparkListenerApplicationEnd(9000, Option.empty()));
    assertThat(store.group(1).orElseThrow().state).isEqualTo(GroupRow.State.CLOSED);
    assertThat(store.group(1).orElseThrow().ended).isEqualTo(9000);
    assertThat(store.group(2).orElseThrow().state).isEqualTo(GroupRow.State.FAILED);
    listener.onOtherEvent(new GroupEnded(1, "world 1", 9500, true, sums(12, 0.5, 1, 1)));
    assertThat(store.group(1).orElseThrow().state).isEqualTo(GroupRow.State.FAILED);
    assertThat(store.group(1).orElseThrow().operations).isEqualTo(12);
  }

  @Test
  void theGroupsThatEndedFirstAreRemovedFirst() {
    listener.onOtherEvent(made(1, 1000));
    listener.onOtherEvent(made(2, 1100));
    listener.onOtherEvent(made(3, 1200));
    listener.onOtherEvent(new GroupEnded(3, "world 3", 1300, false, GroupSums.NONE));
    listener.onOtherEvent(new GroupEnded(2, "world 2", 1400, false, GroupSums.NONE));
    listener.onOtherEvent(made(4, 1500));
    assertThat(store.groups()).extracting(row -> row.id).containsExactly(4L, 2L, 1L);
    assertThat(store.details(3)).isEmpty();
    listener.onOtherEvent(made(5, 1600));
    assertThat(store.groups()).extracting(row -> row.id).containsExactly(5L, 4L, 1L);
    listener.onOtherEvent(made(6, 1700));
    assertThat(store.groups())
        .as("all are open")
        .extracting(row -> row.id)
        .containsExactly(6L, 5L, 4L);
  }

  @Test
  void theTimelineIsBounded() {
    listener.onOtherEvent(made(1, 1000));
    for (int i = 1; i <= 500; i++) {
      listener.onOtherEvent(new GroupProgress(1, "world 1", 1000 + i, sums(i, 0.5, i, 2L * i)));
    }
    List<Interval> intervals = store.details(1).orElseThrow().intervals;
    assertThat(intervals).hasSize(GroupDetails.MOST_INTERVALS);
    assertThat(intervals.get(intervals.size() - 1).to()).isEqualTo(1500);
  }

  /**
   * A history server keeps rows on disk, as JSON; so does a driver whose UI has a store on disk.
   */
  @Test
  void rowsAreTheSameAfterTheDisk() throws Exception {
    listener.onOtherEvent(made(1, 1000));
    GroupFailed failed =
        new GroupFailed(1, "world 1", 2000, 2, "b", "2", "EXCEPTION", "boom", "/d", "rank 2");
    listener.onOtherEvent(failed);
    listener.onOtherEvent(new GroupProgress(1, "world 1", 11_000, sums(10, 0.25, 500, 1000)));
    GroupDetails details = store.details(1).orElseThrow();
    KVStoreSerializer disk = new KVUtils.KVStoreScalaSerializer();
    GroupDetails read = disk.deserialize(disk.serialize(details), GroupDetails.class);
    assertThat(read.failures).containsExactly(failed);
    assertThat(read.ranks).isEqualTo(details.ranks);
    assertThat(read.sums).isEqualTo(details.sums);
    assertThat(read.intervals).isEqualTo(details.intervals);
  }

  private static QuorumFormed quorum(long run, long quorum) {
    ReplicaPlace place = new ReplicaPlace(1, 9, "b", "2", 0);
    return new QuorumFormed(run, 1000 + quorum, quorum, 50, false, 3, 4, 1, List.of(place));
  }

  @Test
  void aRunIsARowWithItsNewestQuorums() throws Exception {
    for (int i = 1; i <= RunRow.MOST_QUORUMS + 5; i++) {
      listener.onOtherEvent(quorum(2, i));
    }
    listener.onOtherEvent(new RunEnded(2, 9000, "boom"));
    RunRow row = store.run(2).orElseThrow();
    assertThat(row.since).isEqualTo(1001);
    assertThat(row.ended).isEqualTo(9000);
    assertThat(row.failure).isEqualTo("boom");
    assertThat(row.quorums).hasSize(RunRow.MOST_QUORUMS);
    assertThat(row.newest()).isEqualTo(quorum(2, RunRow.MOST_QUORUMS + 5));
    KVStoreSerializer disk = new KVUtils.KVStoreScalaSerializer();
    RunRow read = disk.deserialize(disk.serialize(row), RunRow.class);
    assertThat(read.quorums).isEqualTo(row.quorums);
    assertThat(read.failure).isEqualTo("boom");
  }

  @Test
  void theRunsThatBeganFirstAreRemovedFirst() {
    for (int run = 1; run <= GroupListener.MOST_RUNS + 2; run++) {
      listener.onOtherEvent(quorum(run, 1));
    }
    assertThat(store.runs())
        .hasSize(GroupListener.MOST_RUNS)
        .extracting(row -> row.id)
        .startsWith(GroupListener.MOST_RUNS + 2L)
        .endsWith(3L);
  }

  @Test
  void theEndOfTheApplicationEndsRuns() {
    listener.onOtherEvent(quorum(1, 1));
    listener.onOtherEvent(new RunEnded(2, 3000, "boom"));
    listener.onApplicationEnd(new SparkListenerApplicationEnd(9000, Option.empty()));
    assertThat(store.run(1).orElseThrow().ended).isEqualTo(9000);
    assertThat(store.run(2).orElseThrow().ended).isEqualTo(3000);
  }

  @Test
  void theLibraryIsOneRow() {
    assertThat(store.isUsed()).isFalse();
    listener.onOtherEvent(new LibraryStarted(1, "0.1.0", "4.2.0", Map.of("a", "b")));
    assertThat(store.isUsed()).isTrue();
    assertThat(store.library().orElseThrow().settings).containsEntry("a", "b");
  }
}
