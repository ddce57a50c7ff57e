package org.sparkcollectives.internal.recorder;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.Arrival;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.GroupStatus;
import org.sparkcollectives.OpType;
import org.sparkcollectives.recorder.Traces;
import org.sparkcollectives.spi.OperationSpec;
import org.sparkcollectives.testing.Threads;

class RecordRingTest {

  private static RecordRing.Entry record(GroupRecords group, long number) {
    return Traces.call(group, OpType.ALL_REDUCE, number);
  }

  private static GroupRecords group(RecordRing ring, String name) {
    return ring.join(name, "tests", List.of(0, 1), 0);
  }

  @Test
  void aResetForgetsWhatWasCalledBeforeAndNumbersGoOn() {
    RecordRing ring = new RecordRing(3);
    GroupRecords group = group(ring, "group");
    RecordRing.Entry underWay = record(group, 0);
    record(group, 1);

    ring.reset();

    assertThat(ring.records()).isEmpty();
    assertThat(ring.groups()).extracting(GroupStatus::lastEnqueued).containsExactly(1L);
    underWay.completed(true);
    assertThat(ring.records()).isEmpty();
    assertThat(group.status().lastCompleted()).isZero();
    record(group, 2);
    assertThat(ring.records()).extracting(FlightRecord::id).containsExactly(2L);
    ring.reset();
    ring.reset();
    assertThat(group.records()).isEmpty();
  }

  private static void operation(GroupRecords group, long number, long atLeastNanos) {
    long begin = System.nanoTime();
    RecordRing.Entry entry = group.record(OperationSpec.barrier(), number, 1_000, begin);
    entry.started();
    while (System.nanoTime() - begin < atLeastNanos) {
      Thread.onSpinWait();
    }
    entry.completed(true);
  }

  @Test
  void theTimeInAnotherGroupIsNotThatOfOwnCode() {
    RecordRing ring = new RecordRing(0);
    GroupRecords one = group(ring, "one");
    GroupRecords other = group(ring, "other");
    long begin = System.nanoTime();
    operation(one, 0, 0);
    operation(one, 1, 0);
    operation(other, 0, 5_000_000);
    operation(one, 2, 0);
    long end = System.nanoTime();

    List<Arrival> arrivals = one.statistics(0, 0, GroupStatistics.Paths.NONE).arrivals();
    assertThat(arrivals.get(2).outsideNanos()).isBetween(0L, end - begin - 5_000_000);
  }

  @Test
  void theNewestAreKeptAndTheOldestForgotten() {
    GroupRecords group = group(new RecordRing(3), "group");
    for (int i = 0; i < 10; i++) {
      record(group, i);
    }
    assertThat(group.records()).extracting(FlightRecord::id).containsExactly(7L, 8L, 9L);
    assertThat(group.records()).extracting(FlightRecord::group).containsOnly("group");
  }

  @Test
  void aRingWithoutRoomKeepsNothingButHowFarTheGroupIs() {
    RecordRing ring = new RecordRing(0);
    GroupRecords group = group(ring, "group");
    RecordRing.Entry entry = record(group, 0);
    entry.started();
    entry.completed(true);
    assertThat(group.records()).isEmpty();
    assertThat(entry.durationNanos()).isNotNegative();
    assertThat(group.status().lastCompleted()).isZero();
  }

  @Test
  void aRecordGoesFromScheduledToItsEnd() {
    GroupRecords group = group(new RecordRing(2), "group");
    RecordRing.Entry entry = record(group, 5);
    FlightRecord scheduled = group.records().get(0);
    assertThat(scheduled.state()).isEqualTo(FlightRecord.State.SCHEDULED);
    assertThat(scheduled.thread()).isEqualTo(Thread.currentThread().getName());
    assertThat(scheduled.createdNanos()).isPositive();
    assertThat(scheduled.startedNanos()).isZero();
    assertThat(scheduled.completedNanos()).isZero();

    entry.started();
    FlightRecord started = group.records().get(0);
    assertThat(started.state()).isEqualTo(FlightRecord.State.STARTED);
    assertThat(started.startedNanos()).isGreaterThanOrEqualTo(started.createdNanos());

    entry.completed(false);
    FlightRecord failed = group.records().get(0);
    assertThat(failed.state()).isEqualTo(FlightRecord.State.FAILED);
    assertThat(failed.completedNanos()).isGreaterThanOrEqualTo(failed.startedNanos());
    assertThat(failed.sequenceNumber()).isEqualTo(5);
    assertThat(failed.timeoutMillis()).isEqualTo(1000);
  }

  @Test
  void theStatusTellsHowFarCollectivesCameAndLeavesMessagesOut() {
    GroupRecords group = group(new RecordRing(1), "group");
    assertThat(group.status())
        .isEqualTo(new GroupStatus("group", "tests", List.of(0, 1), -1, -1, -1));
    RecordRing.Entry first = record(group, 0);
    RecordRing.Entry second = record(group, 1);
    record(group, 2);
    first.started();
    first.completed(true);
    second.started();
    second.completed(false);
    Traces.call(group, OpType.SEND, 9).started();
    assertThat(group.status()).isEqualTo(new GroupStatus("group", "tests", List.of(0, 1), 2, 1, 0));
  }

  @Test
  void groupsShareTheRingAndAClosedOneStaysAsLongAsItsRecords() {
    RecordRing ring = new RecordRing(2);
    GroupRecords world = group(ring, "world");
    GroupRecords other = group(ring, "other");
    record(world, 0);
    record(other, 0);
    assertThat(ring.records()).extracting(FlightRecord::group).containsExactly("world", "other");
    assertThat(world.records()).hasSize(1);

    other.close();
    assertThat(ring.groups()).extracting(GroupStatus::name).containsExactly("world", "other");
    record(world, 1);
    record(world, 2);
    assertThat(ring.groups()).extracting(GroupStatus::name).containsExactly("world");
  }

  @Test
  void whoReadsWhileOthersRecordSeesWholeRecordsInTheirOrder() throws Exception {
    int writers = 3;
    int each = 100_000;
    RecordRing ring = new RecordRing(4);
    GroupRecords group = group(ring, "group");
    AtomicInteger writing = new AtomicInteger(writers);
    try (Threads threads = new Threads()) {
      threads.runTogether(
          writers + 1,
          index -> {
            if (index == writers) {
              while (writing.get() > 0) {
                checkWhole(group.records());
              }
              return null;
            }
            try {
              for (int i = 0; i < each; i++) {
                RecordRing.Entry entry = record(group, i);
                entry.started();
                entry.completed(i % 2 == 0);
              }
              return null;
            } finally {
              writing.decrementAndGet();
            }
          });
    }
    assertThat(group.records()).hasSize(4);
    assertThat(group.records().get(3).id()).isEqualTo((long) writers * each - 1);
  }

  private static void checkWhole(List<FlightRecord> records) {
    long before = -1;
    for (FlightRecord record : records) {
      FlightRecord.State state = record.state();
      assertThat(record.id()).isGreaterThan(before);
      assertThat(record.startedNanos() != 0).isEqualTo(state != FlightRecord.State.SCHEDULED);
      assertThat(record.completedNanos() != 0)
          .isEqualTo(state == FlightRecord.State.COMPLETED || state == FlightRecord.State.FAILED);
      if (record.completedNanos() != 0) {
        assertThat(record.completedNanos()).isGreaterThanOrEqualTo(record.startedNanos());
      }
      before = record.id();
    }
  }
}
