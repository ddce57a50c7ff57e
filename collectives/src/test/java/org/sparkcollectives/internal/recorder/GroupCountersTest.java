package org.sparkcollectives.internal.recorder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.Arrival;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.OpType;
import org.sparkcollectives.OperationStatistics;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.OperationSpec;
import org.sparkcollectives.testing.Threads;

class GroupCountersTest {

  private static final OperationSpec ALL_REDUCE =
      OperationSpec.allReduce(Tensor.allocate(DType.FLOAT32, 256), ReduceOp.SUM);

  private final OutsideTime outsideAllGroups = new OutsideTime();
  private final GroupCounters counters = new GroupCounters(outsideAllGroups);

  private void add(long sequence, long created, long started, long ended) {
    counters.add(ALL_REDUCE, "ring", sequence, created, started, ended, true);
  }

  private GroupStatistics statistics() {
    return counters.statistics("group", 0, 2, 0, 0, GroupStatistics.Paths.NONE);
  }

  @Test
  void overlappingOperationsTakeTheirTimeOnce() {
    add(0, 1_000, 1_000, 2_000);
    // Called while the first ran, and run after it.
    add(1, 1_500, 2_000, 3_000);
    add(2, 5_000, 5_000, 6_000);
    GroupStatistics statistics = statistics();
    assertThat(statistics.collectiveSeconds()).isCloseTo(3e-6, within(1e-12));
    assertThat(statistics.outsideSeconds()).isCloseTo(2e-6, within(1e-12));
    assertThat(statistics.arrivals())
        .containsExactly(
            new Arrival(0, 0, 1_000, 0),
            new Arrival(1, 0, 1_000, 0),
            new Arrival(2, 0, 1_000, 2_000));
  }

  @Test
  void aRankThatWaitsInAnotherGroupIsNotInItsOwnCode() {
    GroupCounters others = new GroupCounters(outsideAllGroups);
    add(0, 1_000, 1_000, 2_000);
    add(1, 5_000, 5_000, 6_000);
    add(2, 7_000, 7_000, 8_000);
    others.add(ALL_REDUCE, "ring", 0, 9_000, 9_000, 99_000, true);
    add(3, 102_000, 102_000, 103_000);
    // One that is called while another group's is pending, and ends after it.
    others.add(ALL_REDUCE, "ring", 1, 104_000, 104_000, 204_000, false);
    add(4, 110_000, 110_000, 210_000);
    GroupStatistics statistics = statistics();
    assertThat(statistics.arrivals())
        .extracting(Arrival::outsideNanos)
        .containsExactly(0L, 3_000L, 4_000L, 8_000L, 9_000L);
    // Of this group alone.
    assertThat(statistics.outsideSeconds()).isCloseTo(105e-6, within(1e-12));
  }

  @Test
  void anOperationThatEndsBeforeAnEarlierOneAddsNoTimeTwice() {
    add(0, 4_000, 4_000, 5_000);
    add(1, 1_000, 1_000, 3_000);
    assertThat(statistics().collectiveSeconds()).isCloseTo(1e-6, within(1e-12));
    assertThat(statistics().outsideSeconds()).isZero();
  }

  @Test
  void aFailureTakesTimeAndIsNoOperation() {
    counters.add(ALL_REDUCE, "", 0, 1_000, 1_000, 3_000, false);
    assertThat(statistics().failures()).isEqualTo(1);
    assertThat(statistics().operations()).isZero();
    assertThat(statistics().byOperation()).isEmpty();
    assertThat(statistics().arrivals()).isEmpty();
    assertThat(statistics().collectiveSeconds()).isCloseTo(2e-6, within(1e-12));
  }

  @Test
  void rowsBeyondTheMostAreSummedUpInTheLast() {
    for (int i = 0; i < 100; i++) {
      counters.add(ALL_REDUCE, "algorithm " + i, i, 0, 0, 10, true);
    }
    List<OperationStatistics> rows = statistics().byOperation();
    assertThat(rows).hasSize(GroupStatistics.MOST_ROWS);
    OperationStatistics last = rows.get(rows.size() - 1);
    assertThat(last.operation()).isEqualTo(OpType.UNKNOWN);
    assertThat(last.count()).isEqualTo(37);
    assertThat(rows.stream().mapToLong(OperationStatistics::count).sum()).isEqualTo(100);
    assertThat(statistics().bytes()).isEqualTo(100 * 1024);
  }

  @Test
  void anArrivalNamesTheRowThatCountsIt() {
    add(0, 0, 0, 10);
    counters.add(ALL_REDUCE, "direct", 1, 10, 10, 20, true);
    add(2, 20, 20, 30);
    assertThat(statistics().arrivals()).extracting(Arrival::row).containsExactly(0, 1, 0);
    assertThat(statistics().byOperation())
        .extracting(OperationStatistics::algorithm)
        .containsExactly("ring", "direct");
  }

  @Test
  void theBusBandwidthIsThatOfNcclTests() {
    add(0, 0, 0, 1_000);
    OperationStatistics row = statistics().byOperation().get(0);
    // 1,024 bytes in 1 us among four ranks, each of which sends one and a half times as much.
    assertThat(row.busBandwidth(4)).isCloseTo(1.536e9, within(0.08e9));
    assertThat(row.fromBytes()).isEqualTo(1024);
  }

  @Test
  void readersSeeCountsThatBelongTogetherWhileAnotherThreadCounts() throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    List<GroupStatistics> seen = new ArrayList<>();
    try (Threads threads = new Threads()) {
      Future<Void> reader =
          threads.start(
              () -> {
                while (!done.get()) {
                  seen.add(statistics());
                }
                return null;
              });
      for (int i = 0; i < 1_000_000; i++) {
        add(i, 10L * i, 10L * i, 10L * i + 5);
      }
      done.set(true);
      Threads.result(reader);
    }
    seen.add(statistics());
    assertThat(seen.get(seen.size() - 1).operations()).isEqualTo(1_000_000);
    for (GroupStatistics each : seen) {
      assertThat(each.bytes()).isEqualTo(1024 * each.operations());
      for (Arrival arrival : each.arrivals()) {
        assertThat(arrival.durationNanos()).isEqualTo(5);
        assertThat(arrival.outsideNanos()).isEqualTo(5 * arrival.sequence());
      }
    }
  }
}
