package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.Arrival;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.OpType;
import org.sparkcollectives.OperationStatistics;
import org.sparkcollectives.spark.event.ComparedOperation;
import org.sparkcollectives.spark.event.GroupEnded;
import org.sparkcollectives.spark.event.GroupFailed;
import org.sparkcollectives.spark.event.GroupMade;
import org.sparkcollectives.spark.event.GroupProgress;
import org.sparkcollectives.spark.event.GroupSums;
import org.sparkcollectives.spark.event.OperationSums;
import org.sparkcollectives.spark.event.RankPlace;
import org.sparkcollectives.spark.event.RankSums;
import org.sparkcollectives.spark.internal.metrics.OperationTotals;

/** Tests which events are posted for what the driver knows of groups. */
class GroupEventsTest {

  private final List<SparkListenerEvent> posted = new ArrayList<>();
  private long now = 100_000;
  private final GroupEvents events =
      new GroupEvents(posted::add, () -> now, Duration.ofSeconds(10));

  private static RankSnapshot rank(int rank, int size, long... durations) {
    List<Arrival> arrivals = new ArrayList<>();
    for (int i = 0; i < durations.length; i++) {
      arrivals.add(new Arrival(i, 0, durations[i], 0));
    }
    GroupStatistics statistics =
        new GroupStatistics(
            "world",
            rank,
            size,
            10,
            1,
            1000,
            1.5,
            2.5,
            0,
            0,
            new GroupStatistics.Paths(0, 1, 2),
            List.of(),
            1,
            arrivals,
            GroupStatistics.Progress.NONE);
    return new RankSnapshot(
        rank, "host-" + rank, "7", 99, false, statistics, 4, 0.25, 0.123456, rank % 1_500 == 1);
  }

  private static GroupSnapshot group(int size, boolean ended, RankSnapshot... ranks) {
    return new GroupSnapshot(
        "world",
        3,
        1,
        size,
        90_000,
        95_000,
        ended,
        false,
        new OperationTotals(20, 2, 2000, 3, 5, 4, 1.5),
        List.of(
            new OperationSnapshot(
                new OperationStatistics(OpType.BARRIER, -1, "tree", 2, 0, 0.1, 0.01, 0.02), 0, 0),
            new OperationSnapshot(
                new OperationStatistics(
                    OpType.ALL_REDUCE, 10, "ring", 20, 20_480, 0.5, 0.00123456, 0.02),
                8,
                0.0054321)),
        List.of(new ComparedOperation(7, "ALL_REDUCE", 0.001, 0.002, 1)),
        new GroupStatistics.Progress(3, 10, "loss 0.25"),
        8,
        List.of(ranks));
  }

  private static GroupSnapshot group(int size) {
    return group(
        size,
        false,
        IntStream.range(0, size).mapToObj(i -> rank(i, size)).toArray(RankSnapshot[]::new));
  }

  private <T> List<T> posted(Class<T> type) {
    return posted.stream().filter(type::isInstance).map(type::cast).toList();
  }

  @Test
  void whatIsKnownOfAGroupIsInItsEvents() {
    events.onGroupMade(group(2));
    events.onStatistics(group(2));
    assertThat(posted(GroupMade.class))
        .containsExactly(
            new GroupMade(
                1,
                "world",
                90_000,
                3,
                1,
                2,
                List.of(
                    new RankPlace(0, "host-0", "7", 0, 1, 2),
                    new RankPlace(1, "host-1", "7", 0, 1, 2))));
    GroupProgress progress = posted(GroupProgress.class).get(0);
    assertThat(progress.time()).isEqualTo(100_000);
    GroupSums sums = progress.sums();
    assertThat(sums.operations()).isEqualTo(20);
    assertThat(sums.failures()).isEqualTo(2);
    assertThat(sums.pending()).isEqualTo(4);
    assertThat(sums.longestPendingMillis()).isEqualTo(1500);
    assertThat(sums.compared()).isEqualTo(8);
    assertThat(sums.insideShare()).isEqualTo(0.375);
    assertThat(sums.byRank().get(1))
        .isEqualTo(new RankSums(1, 10, 1000, 4, 250, 0.123, true, 1500, 2500));
    assertThat(sums.byOperation())
        .containsExactly(
            new OperationSums(
                "ALL_REDUCE", 10, "ring", 20, 20_480, 0.00123, 0.02, 829_000, 8, 0.00543),
            new OperationSums("BARRIER", -1, "tree", 2, 0, 0.01, 0.02, 0, 0, 0));
    assertThat(sums.newest())
        .containsExactly(new ComparedOperation(7, "ALL_REDUCE", 0.001, 0.002, 1));
    assertThat(sums.training()).isEqualTo(Map.of("done", 3.0, "total", 10.0));
    assertThat(sums.trainingText()).isEqualTo("loss 0.25");
  }

  @Test
  void theRanksArePostedAgainWhenAllAreKnown() {
    events.onGroupMade(group(2, false, rank(0, 2)));
    events.onStatistics(group(2, false, rank(0, 2)));
    now += 10_000;
    events.onStatistics(group(2));
    now += 10_000;
    events.onStatistics(group(2));
    assertThat(posted(GroupMade.class))
        .extracting(made -> made.ranks().size())
        .containsExactly(1, 2);
  }

  @Test
  void sumsArePostedOncePerInterval() {
    for (int i = 0; i < 60; i++) {
      events.onStatistics(group(2));
      now += 1000;
    }
    assertThat(posted(GroupProgress.class))
        .extracting(GroupProgress::time)
        .containsExactly(100_000L, 110_000L, 120_000L, 130_000L, 140_000L, 150_000L);
  }

  @Test
  void aSlowRankIsAmongThoseThatAnEventLists() {
    events.onStatistics(group(1_600));
    assertThat(posted(GroupProgress.class).get(0).sums().byRank())
        .hasSize(GroupMade.MOST_RANKS)
        .isSortedAccordingTo(Comparator.comparingInt(RankSums::rank))
        .filteredOn(RankSums::straggler)
        .extracting(RankSums::rank)
        .containsExactly(1, 1_501);
  }

  @Test
  void sumsOfManyRanksArePostedLessOften() {
    GroupSnapshot large = group(320);
    for (int i = 0; i < 60; i++) {
      events.onStatistics(large);
      now += 1000;
    }
    assertThat(posted(GroupProgress.class))
        .extracting(GroupProgress::time)
        .containsExactly(100_000L, 120_000L, 140_000L);
  }

  @Test
  void aFailureAndTheEndHaveTheIdOfTheirGroup() {
    events.onGroupMade(group(2));
    GroupSnapshot next =
        new GroupSnapshot(
            "world",
            3,
            2,
            2,
            0,
            0,
            false,
            false,
            OperationTotals.NONE,
            List.of(),
            List.of(),
            GroupStatistics.Progress.NONE,
            0,
            List.of());
    events.onGroupMade(next);
    events.onFailure(
        new GroupFailure(
            "world", 3, 1, 101_000, 1, "host-1", "7", "KILLED", "it was", "/d", "late"));
    events.onGroupEnded(group(2, true, rank(0, 2), rank(1, 2)));
    assertThat(posted(GroupFailed.class))
        .containsExactly(
            new GroupFailed(
                1, "world", 101_000, 1, "host-1", "7", "KILLED", "it was", "/d", "late"));
    assertThat(posted(GroupEnded.class)).extracting(GroupEnded::id).containsExactly(1L);
    assertThat(posted(GroupEnded.class).get(0).sums().operations()).isEqualTo(20);
    events.onGroupEnded(next);
    assertThat(posted(GroupEnded.class)).extracting(GroupEnded::id).containsExactly(1L, 2L);
  }

  @Test
  void theShareOfWaitingIsThatBeforeTheLastRankCame() {
    GroupSnapshot group = group(2, false, rank(0, 2, 100, 300, 500), rank(1, 2, 300, 100));
    // 200 of 400 in each of the two operations that both ranks have sampled.
    assertThat(SnapshotSums.waitingShare(group)).isCloseTo(0.5, within(1e-9));
    assertThat(SnapshotSums.waitingShare(group(3, false, rank(0, 3, 100), rank(1, 3, 300))))
        .as("one rank is not known")
        .isZero();
    assertThat(SnapshotSums.waitingShare(group(2))).isZero();
  }

  private static GroupSnapshot named(String name, boolean ended, boolean failed) {
    GroupSnapshot one = group(1);
    return new GroupSnapshot(
        name,
        one.stage(),
        one.attempt(),
        one.size(),
        one.startMillis(),
        one.updateMillis(),
        ended,
        failed,
        one.sums(),
        one.byOperation(),
        one.newest(),
        one.progress(),
        one.samples(),
        one.ranks());
  }

  @Test
  void aProgramThatMakesGroupsAllTheTimePostsOnlySomeOfThemAndAllThatFail() {
    for (int i = 0; i < 10_000; i++) {
      now += 10;
      events.onGroupMade(named("short-" + i, false, false));
      events.onGroupEnded(named("short-" + i, true, false));
    }
    int most = GroupEvents.NEW_AT_ONCE + 100 * GroupEvents.NEW_IN_A_SECOND;
    assertThat(posted(GroupMade.class)).hasSizeBetween(most - 1, most);
    assertThat(posted(GroupEnded.class)).hasSameSizeAs(posted(GroupMade.class));

    posted.clear();
    events.onGroupMade(named("failing", false, false));
    events.onGroupEnded(named("failing", true, true));
    assertThat(posted(GroupEnded.class)).singleElement().matches(GroupEnded::failed);
  }

  @Test
  void aGroupThatWasLeftOutIsPostedOnceThereIsRoom() {
    for (int i = 0; i <= GroupEvents.NEW_AT_ONCE; i++) {
      events.onGroupMade(named("group-" + i, false, false));
    }
    String last = "group-" + GroupEvents.NEW_AT_ONCE;
    assertThat(posted(GroupMade.class)).extracting(GroupMade::name).doesNotContain(last);

    now += 1000;
    events.onStatistics(named(last, false, false));
    assertThat(posted(GroupMade.class)).extracting(GroupMade::name).contains(last);
    assertThat(posted(GroupProgress.class)).extracting(GroupProgress::name).containsExactly(last);
  }

  @Test
  void aGroupThatWasLeftOutAndFailsIsPostedWithItsBeginning() {
    for (int i = 0; i <= GroupEvents.NEW_AT_ONCE; i++) {
      events.onGroupMade(named("group-" + i, false, false));
    }
    String last = "group-" + GroupEvents.NEW_AT_ONCE;
    posted.clear();
    events.onFailure(
        new GroupFailure(last, 3, 1, now, 0, "host-0", "7", "IOException", "text", "", ""));
    assertThat(posted).hasSize(2).first().isInstanceOf(GroupMade.class);
    assertThat(posted(GroupMade.class)).singleElement().extracting(GroupMade::name).isEqualTo(last);
  }

  @Test
  void aClockThatIsSetBackLeavesOutNoGroup() {
    events.onGroupMade(named("before", false, false));
    now -= Duration.ofHours(1).toMillis();
    events.onGroupMade(named("after", false, false));
    now += 1;
    events.onGroupMade(named("later", false, false));
    assertThat(posted(GroupMade.class))
        .extracting(GroupMade::name)
        .containsExactly("before", "after", "later");
  }
}
