package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.Arrival;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.OpType;
import org.sparkcollectives.OperationStatistics;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.spark.event.ComparedOperation;
import org.sparkcollectives.spark.event.GroupSums;
import org.sparkcollectives.spark.internal.protocol.ExecutorReport;
import org.sparkcollectives.spark.internal.protocol.ProcessStatistics;
import org.sparkcollectives.spark.internal.protocol.RankReport;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;

class StatisticsCollectorTest {

  private static final StageAttempt STAGE = new StageAttempt(3, 0);

  private final Queue<Runnable> later = new ArrayDeque<>();
  private final List<String> events = new ArrayList<>();
  private long now = 1_000_000;
  private FailureDump dump = FailureDump.NONE;

  private final StatisticsCollector collector =
      new StatisticsCollector(
          Runnable::run, later::add, () -> now, Duration.ofSeconds(2), stage -> dump);

  StatisticsCollectorTest() {
    collector.addListener(
        new StatisticsListener() {
          @Override
          public void onGroupMade(GroupSnapshot group) {
            events.add("made " + group.group());
          }

          @Override
          public void onStatistics(GroupSnapshot group) {
            events.add("sums " + group.sums().operations());
          }

          @Override
          public void onGroupEnded(GroupSnapshot group) {
            events.add("ended " + group.sums().operations());
          }

          @Override
          public void onFailure(GroupFailure failure) {
            events.add(
                "failure "
                    + failure.rank()
                    + " "
                    + failure.kind()
                    + " "
                    + failure.dump()
                    + failure.finding());
          }
        });
  }

  private static GroupStatistics statistics(
      String group, int rank, int size, long operations, long outsideMillis) {
    List<Arrival> arrivals = new ArrayList<>();
    for (int i = 0; i < Math.min(64, operations); i++) {
      arrivals.add(
          new Arrival(i, 0, (60 - outsideMillis) * 1_000_000, outsideMillis * 1_000_000 * (i + 1)));
    }
    OperationStatistics row =
        new OperationStatistics(
            OpType.ALL_REDUCE, 10, "ring", operations, 1024 * operations, 0.5, 0.01 + rank, 0.02);
    return new GroupStatistics(
        group,
        rank,
        size,
        operations,
        0,
        1024 * operations,
        1,
        2,
        1,
        0.5 + rank,
        new GroupStatistics.Paths(0, 0, size - 1),
        List.of(row),
        1,
        arrivals,
        new GroupStatistics.Progress(rank, 4, "step " + rank));
  }

  private void report(GroupStatistics statistics, boolean ended, Failure failure) {
    RankReport rank =
        new RankReport(
            STAGE, 100 + statistics.rank(), ended, Optional.ofNullable(failure), statistics);
    collector.receive(
        new ExecutorReport(
                "executor-" + statistics.rank(),
                "host",
                new ProcessStatistics(10, 2, 100),
                List.of(rank))
            .encode());
  }

  /** Lets so many seconds pass. */
  private void pass(int seconds) {
    for (int i = 0; i < seconds; i++) {
      now += 1_000;
      List<Runnable> due = new ArrayList<>(later);
      later.clear();
      due.forEach(Runnable::run);
    }
  }

  @Test
  void theEndOfTheApplicationEndsGroupsThatWereJustReported() {
    report(statistics("world", 0, 2, 5, 10), false, null);
    collector.applicationEnded();
    assertThat(events).containsExactly("made world", "ended 5");
    collector.applicationEnded();
    assertThat(events).hasSize(2);
  }

  private static Failure failure(Failure.Kind kind, int rank) {
    return new Failure(kind, new RankLocation(rank, "host", "e", 7), "", -1, "it broke");
  }

  @Test
  void aGroupIsMadeSummedUpAndEnds() {
    report(statistics("world", 0, 2, 5, 20), false, null);
    report(statistics("world", 1, 2, 6, 20), false, null);
    pass(1);
    assertThat(events).containsExactly("made world", "sums 11");
    GroupSnapshot group = collector.groups().get(0);
    assertThat(group.size()).isEqualTo(2);
    assertThat(group.ranks())
        .extracting(RankSnapshot::executorId)
        .containsExactly("executor-0", "executor-1");
    assertThat(group.byOperation())
        .containsExactly(
            new OperationSnapshot(
                new OperationStatistics(
                    OpType.ALL_REDUCE, 10, "ring", 11, 11 * 1024, 1, 0.51, 0.02),
                5,
                0));
    assertThat(group.sums().longestPendingSeconds()).isEqualTo(1.5);
    assertThat(collector.sums().figures().activeGroups()).isEqualTo(1);
    assertThat(collector.sums().figures().process()).isEqualTo(new ProcessStatistics(20, 4, 200));

    pass(5);
    assertThat(events).as("nothing new").hasSize(2);
    report(statistics("world", 0, 2, 9, 20), true, null);
    pass(1);
    assertThat(events).hasSize(3).last().isEqualTo("sums 15");
    report(statistics("world", 1, 2, 9, 20), true, null);
    pass(1);
    assertThat(events).hasSize(4).last().isEqualTo("ended 18");
    assertThat(collector.groups().get(0).ended()).isTrue();
    assertThat(collector.sums().figures().activeGroups()).isZero();
    assertThat(collector.sums().figures().totals().operations()).isEqualTo(18);
    assertThat(collector.sums().figures().totals().pending()).isZero();
  }

  @Test
  void listenersHearOfSumsOnceInAnInterval() {
    for (int i = 1; i <= 8; i++) {
      report(statistics("world", 0, 2, i, 20), false, null);
      pass(1);
    }
    assertThat(events).containsExactly("made world", "sums 1", "sums 3", "sums 5", "sums 7");
  }

  @Test
  void theFailureThatTellsTheMostIsToldOnce() {
    dump = new FailureDump("/dumps/", Optional.of("late"));
    report(statistics("world", 0, 3, 5, 20), false, failure(Failure.Kind.CONNECTION_RESET, 1));
    pass(1);
    report(statistics("world", 2, 3, 5, 20), false, failure(Failure.Kind.EXECUTOR_LOST, 1));
    pass(3);
    assertThat(events).containsOnlyOnce("failure 1 EXECUTOR_LOST /dumps/late");
    assertThat(events).filteredOn(each -> each.startsWith("failure")).hasSize(1);
    assertThat(collector.groups().get(0).failed()).isTrue();
  }

  @Test
  void aFailureIsToldWithWhatItsDumpsTellBeforeTheGroupEnds() {
    dump = new FailureDump("/d/", Optional.empty());
    report(statistics("world", 0, 1, 5, 20), true, failure(Failure.Kind.EXCEPTION, 0));
    pass(3);
    assertThat(events).containsExactly("made world");
    dump = new FailureDump("/d/", Optional.of("rank 0 is late"));
    pass(1);
    assertThat(events)
        .containsExactly("made world", "failure 0 EXCEPTION /d/rank 0 is late", "ended 5");
    assertThat(collector.sums().figures().activeGroups()).isZero();
  }

  @Test
  void aFailureWhoseDumpsAreNotAnalysedIsToldAllTheSame() {
    dump = new FailureDump("/d/", Optional.empty());
    report(statistics("world", 0, 1, 5, 20), true, failure(Failure.Kind.EXCEPTION, 0));
    pass(6);
    assertThat(events).containsExactly("made world", "failure 0 EXCEPTION /d/", "ended 5");
  }

  @Test
  void theEndOfTheApplicationWaitsForNoDumps() {
    dump = new FailureDump("/d/", Optional.empty());
    report(statistics("world", 0, 1, 5, 20), true, failure(Failure.Kind.EXCEPTION, 0));
    collector.applicationEnded();
    assertThat(events).containsExactly("made world", "failure 0 EXCEPTION /d/", "ended 5");
  }

  @Test
  void theWaitForTheLastRankIsSummedUpByOperation() {
    report(statistics("world", 0, 2, 5, 20), false, null);
    report(statistics("world", 1, 2, 5, 30), false, null);
    pass(1);
    report(statistics("world", 0, 2, 20, 20), false, null);
    report(statistics("world", 1, 2, 20, 30), false, null);
    pass(2);
    // Rank 0 took 40 ms and rank 1 30 ms: rank 0 waited for 10 ms, and rank 1 for nobody.
    GroupSnapshot group = collector.groups().get(0);
    assertThat(group.byOperation())
        .singleElement()
        .satisfies(row -> assertThat(row.compared()).isEqualTo(20))
        .satisfies(row -> assertThat(row.waitedSeconds()).isCloseTo(0.005, within(1e-9)));
    assertThat(group.newest()).hasSize(GroupSums.MOST_NEWEST);
    assertThat(group.newest().get(GroupSums.MOST_NEWEST - 1))
        .isEqualTo(new ComparedOperation(19, "ALL_REDUCE", 0.03, 0.005, 1));
  }

  @Test
  void theProgressIsThatOfTheLowestRankOfTheNewestGroupThatSaysSomething() {
    report(statistics("world", 3, 4, 5, 20), false, null);
    pass(1);
    assertThat(collector.sums().progress()).isEqualTo(0.75);
    report(statistics("world", 1, 4, 5, 20), false, null);
    pass(2);
    assertThat(collector.groups().get(0).progress())
        .isEqualTo(new GroupStatistics.Progress(1, 4, "step 1"));
    assertThat(collector.sums().progress()).isEqualTo(0.25);
  }

  @Test
  void aGroupEndsWithItsStageThoughARankIsLost() {
    report(statistics("world", 0, 2, 5, 20), false, null);
    report(statistics("world", 1, 2, 5, 20), false, null);
    pass(1);
    collector.stageEnded(STAGE);
    pass(13);
    assertThat(events).last().isEqualTo("ended 10");
    assertThat(later).as("nothing is left to do").isEmpty();
  }

  @Test
  void aGroupWhoseFirstReportComesAfterTheEndOfItsStageEndsToo() {
    collector.stageEnded(STAGE);
    report(statistics("world", 0, 2, 5, 20), false, null);
    pass(13);
    assertThat(events).last().isEqualTo("ended 5");
    assertThat(later).as("nothing is left to do").isEmpty();
  }

  @Test
  void aSlowerRankIsFoundWithinFiveSeconds() {
    // Steps of 50 ms, reported after 2 s.
    now += 2_000;
    for (int rank = 0; rank < 4; rank++) {
      report(statistics("world", rank, 4, 40, rank == 2 ? 23 : 20), false, null);
    }
    pass(1);
    assertThat(collector.groups().get(0).ranks())
        .filteredOn(RankSnapshot::straggler)
        .singleElement()
        .satisfies(rank -> assertThat(rank.rank()).isEqualTo(2))
        .satisfies(rank -> assertThat(rank.slowness()).isBetween(0.14, 0.16))
        .satisfies(rank -> assertThat(rank.arrivedLast()).isEqualTo(40));
    assertThat(collector.sums().stragglers()).isEqualTo(1);
  }

  @Test
  void groupsThatHaveEndedAreForgottenButNotTheirSums() {
    for (int i = 0; i < 1_500; i++) {
      report(statistics("group " + i, 0, 1, 2, 20), true, null);
      if (i % 100 == 0) {
        pass(1);
      }
    }
    pass(1);
    assertThat(collector.groups()).hasSizeLessThanOrEqualTo(200);
    assertThat(collector.sums().figures().totals().operations()).isEqualTo(3_000);
  }

  @Test
  void largeGroupsThatHaveEndedDoNotPileUp() {
    for (int i = 0; i < 12; i++) {
      for (int rank = 0; rank < 500; rank++) {
        report(statistics("group " + i, rank, 500, 2, 20), true, null);
      }
      pass(1);
    }
    assertThat(collector.groups().stream().mapToInt(group -> group.ranks().size()).sum())
        .isEqualTo(2_000);
    assertThat(collector.groups().get(3).group()).isEqualTo("group 11");
    for (int rank = 0; rank < 3_000; rank++) {
      report(statistics("largest", rank, 3_000, 2, 20), true, null);
    }
    pass(1);
    assertThat(collector.groups()).extracting(GroupSnapshot::group).containsExactly("largest");
    assertThat(collector.sums().figures().totals().operations()).isEqualTo(2 * (12 * 500 + 3_000));
  }

  @Test
  void aListenerThatFailsStopsNoOther() {
    StatisticsListener broken =
        new StatisticsListener() {
          @Override
          public void onGroupMade(GroupSnapshot group) {
            throw new IllegalStateException("broken");
          }
        };
    collector.addListener(broken);
    report(statistics("world", 0, 2, 5, 20), false, null);
    pass(1);
    assertThat(events).contains("made world", "sums 5");
  }

  @Test
  void aThousandRanksAreCheap() {
    for (int rank = 0; rank < 1_000; rank++) {
      report(statistics("world", rank, 1_000, 64, rank == 700 ? 24 : 20), false, null);
    }
    pass(1);
    assertThat(collector.groups().get(0).ranks()).hasSize(1_000);
    assertThat(collector.groups().get(0).ranks())
        .filteredOn(RankSnapshot::straggler)
        .extracting(RankSnapshot::rank)
        .containsExactly(700);
  }
}
