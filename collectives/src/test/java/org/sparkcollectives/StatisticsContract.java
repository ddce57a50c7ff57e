package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.Eventually;

/** Specifies how a group sums up the operations of a rank. */
interface StatisticsContract extends RanksUnderTest {

  @Test
  default void operationsAreSummedUpByKindSizeAndAlgorithm() {
    List<GroupStatistics> all =
        ranks(
            3,
            group -> {
              Tensor tensor = Tensor.allocate(DType.FLOAT32, 1000);
              for (int i = 0; i < 5; i++) {
                group.allReduce(tensor).await();
              }
              group.allReduce(Tensor.of(1f)).await();
              group
                  .allGather(Tensor.allocate(DType.INT64, 300), Tensor.allocate(DType.INT64, 100))
                  .await();
              group.barrier().await();
              GroupStatistics statistics = group.statistics();
              assertThat(statistics.group()).isEqualTo(group.name());
              assertThat(statistics.rank()).isEqualTo(group.rank());
              assertThat(statistics.size()).isEqualTo(3);
              for (OperationStatistics row : statistics.byOperation()) {
                assertThat(
                        group.explain().choices().stream()
                            .filter(choice -> choice.collective() == row.operation())
                            .map(AlgorithmChoices.Choice::algorithm))
                    .as("%s", row)
                    .contains(row.algorithm());
              }
              return statistics;
            });
    for (GroupStatistics each : all) {
      assertThat(each.operations()).isEqualTo(8);
      assertThat(each.failures()).isZero();
      assertThat(each.bytes()).isEqualTo(5 * 4000 + 4 + 2400);
      assertThat(each.pending()).isZero();
      assertThat(each.longestPendingSeconds()).isZero();
      assertThat(each.collectiveSeconds()).isPositive();
      assertThat(each.outsideSeconds()).isNotNegative();
      assertThat(each.collectiveShare()).isPositive().isLessThanOrEqualTo(1);
      assertThat(each.paths().heap() + each.paths().sharedMemory() + each.paths().tcp())
          .isEqualTo(2);
      assertThat(each.byOperation())
          .extracting(
              OperationStatistics::operation,
              OperationStatistics::sizeClass,
              OperationStatistics::count,
              OperationStatistics::bytes)
          .containsExactly(
              tuple(OpType.ALL_REDUCE, 11, 5L, 20_000L),
              tuple(OpType.ALL_REDUCE, 2, 1L, 4L),
              tuple(OpType.ALL_GATHER_INTO, 11, 1L, 2400L),
              tuple(OpType.BARRIER, -1, 1L, 0L));
      assertThat(each.byOperation())
          .allSatisfy(row -> assertThat(row.medianSeconds()).isPositive())
          .allSatisfy(
              row -> assertThat(row.p99Seconds()).isGreaterThanOrEqualTo(row.medianSeconds()));
      assertThat(each.sampleInterval()).isEqualTo(1);
      assertThat(each.arrivals())
          .extracting(Arrival::sequence)
          .containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
    }
    assertThat(all.get(1).byOperation())
        .extracting(OperationStatistics::algorithm)
        .isEqualTo(all.get(0).byOperation().stream().map(OperationStatistics::algorithm).toList());
  }

  @Test
  default void messagesAreCountedWithoutAnAlgorithm() {
    List<GroupStatistics> all =
        ranks(
            2,
            group -> {
              Tensor tensor = Tensor.of(1d, 2d);
              (group.rank() == 0 ? group.send(tensor, 1) : group.recv(tensor, 0)).await();
              return group.statistics();
            });
    for (GroupStatistics each : all) {
      assertThat(each.byOperation()).hasSize(1);
      OperationStatistics row = each.byOperation().get(0);
      assertThat(row.operation()).isEqualTo(each.rank() == 0 ? OpType.SEND : OpType.RECV);
      assertThat(row.algorithm()).isEmpty();
      assertThat(row.bytes()).isEqualTo(16);
      assertThat(each.arrivals()).isEmpty();
    }
  }

  @Test
  default void theStatisticsHaveWhatTheProgramSaysOfItsProgress() {
    ranks(
        2,
        group -> {
          assertThat(group.statistics().progress()).isEqualTo(GroupStatistics.Progress.NONE);
          group.progress(3, 10, "loss " + group.rank());
          GroupStatistics.Progress said =
              group.withTimeout(Duration.ofSeconds(9)).statistics().progress();
          assertThat(said).isEqualTo(new GroupStatistics.Progress(3, 10, "loss " + group.rank()));
          assertThat(said.share()).isEqualTo(0.3);
          group.progress(10, 10, "x".repeat(1000));
          assertThat(group.statistics().progress().text())
              .hasSize(GroupStatistics.Progress.MOST_CHARACTERS);
          for (long[] wrong : new long[][] {{-1, 10}, {11, 10}, {0, 0}, {0, -1}}) {
            assertThatThrownBy(() -> group.progress(wrong[0], wrong[1], ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Rank " + group.rank() + " of group \"" + group.name())
                .hasMessageContaining("cannot have done " + wrong[0] + " of " + wrong[1]);
          }
          assertThat(group.statistics().progress().done()).isEqualTo(10);
          group.barrier().await();
          return group;
        });
  }

  @Test
  default void failuresAreCountedAndAClosedGroupStillTells() {
    List<ProcessGroup> closed =
        ranks(
            2,
            group -> {
              group.barrier().await();
              // A rank may leave the barrier while another is still in it, and would be aborted.
              group.store().barrier("all have left it", 2, Duration.ofSeconds(60));
              if (group.rank() == 1) {
                group.abort(new IllegalStateException("the data is wrong"));
              } else {
                assertThatThrownBy(() -> group.allReduce(Tensor.of(1f)).await())
                    .isInstanceOf(CollectiveException.class);
              }
              return group;
            });
    GroupStatistics waited = closed.get(0).statistics();
    // The group may have failed before the all-reduce was called, which is then refused.
    assertThat(waited.failures()).isLessThanOrEqualTo(1);
    assertThat(waited.operations()).isEqualTo(1);
    assertThat(waited.byOperation())
        .extracting(OperationStatistics::operation)
        .containsExactly(OpType.BARRIER);
  }

  @Test
  default void aPendingOperationThatFailsIsCounted() {
    List<ProcessGroup> groups = new CopyOnWriteArrayList<>();
    ranks(
        2,
        group -> {
          if (group.rank() == 0) {
            Work work = group.barrier();
            groups.add(group);
            assertThatThrownBy(work::await).isInstanceOf(CollectiveException.class);
            assertThat(group.statistics().failures()).isEqualTo(1);
            assertThat(group.statistics().operations()).isZero();
            assertThat(group.statistics().pending()).isZero();
          } else {
            Eventually.holds(() -> !groups.isEmpty(), () -> "rank 0 has not called");
            assertThat(groups.get(0).statistics().pending()).isEqualTo(1);
            group.abort(new IllegalStateException("the data is wrong"));
          }
          return null;
        });
  }

  @Test
  default void theRankThatArrivesLastHasTheShortestDuration() {
    List<ProcessGroup> waiting = new CopyOnWriteArrayList<>();
    List<GroupStatistics> all =
        ranks(
            3,
            group -> {
              group.barrier().await();
              if (group.rank() == 1) {
                Eventually.holds(
                    () ->
                        waiting.size() == 2
                            && waiting.stream()
                                .allMatch(each -> each.statistics().longestPendingSeconds() > 0.25),
                    () -> "the other ranks do not wait");
              } else {
                waiting.add(group);
              }
              group.allReduce(Tensor.of(1f)).await();
              return group.statistics();
            });
    List<Arrival> arrivals = all.stream().map(each -> each.arrivals().get(1)).toList();
    assertThat(arrivals).extracting(Arrival::sequence).containsOnly(1L);
    assertThat(arrivals.get(1).durationNanos())
        .isLessThan(arrivals.get(0).durationNanos())
        .isLessThan(arrivals.get(2).durationNanos());
    assertThat(all.get(1).outsideSeconds()).isGreaterThan(0.2);
    assertThat(arrivals.get(1).outsideNanos()).isGreaterThan(200_000_000);
  }
}
