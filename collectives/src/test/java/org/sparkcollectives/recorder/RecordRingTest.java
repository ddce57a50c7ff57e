package org.sparkcollectives.recorder;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.sparkcollectives.OpType;

class RecordRingTest {

  private static RecordRing.Entry record(RecordRing ring, long number) {
    return ring.record(
        OpType.ALL_REDUCE, number, "float32", 4, 4, () -> "SUM", 1000, System.nanoTime());
  }

  @Test
  void theNewestAreKeptAndTheOldestForgotten() {
    RecordRing ring = new RecordRing("group", 3);
    for (int i = 0; i < 10; i++) {
      record(ring, i);
    }
    assertThat(ring.records()).extracting(FlightRecord::id).containsExactly(7L, 8L, 9L);
    assertThat(ring.records()).extracting(FlightRecord::group).containsOnly("group");
  }

  @Test
  void aRingWithoutRoomKeepsNothing() {
    RecordRing ring = new RecordRing("group", 0);
    RecordRing.Entry entry = record(ring, 0);
    entry.started();
    entry.completed(true);
    assertThat(ring.records()).isEmpty();
    assertThat(entry.durationNanos()).isNotNegative();
  }

  @Test
  void aRecordGoesFromScheduledToItsEnd() {
    RecordRing ring = new RecordRing("group", 2);
    RecordRing.Entry entry = record(ring, 5);
    FlightRecord scheduled = ring.records().get(0);
    assertThat(scheduled.state()).isEqualTo(FlightRecord.State.SCHEDULED);
    assertThat(scheduled.createdNanos()).isPositive();
    assertThat(scheduled.startedNanos()).isZero();
    assertThat(scheduled.completedNanos()).isZero();

    entry.started();
    FlightRecord started = ring.records().get(0);
    assertThat(started.state()).isEqualTo(FlightRecord.State.STARTED);
    assertThat(started.startedNanos()).isGreaterThanOrEqualTo(started.createdNanos());

    entry.completed(false);
    FlightRecord failed = ring.records().get(0);
    assertThat(failed.state()).isEqualTo(FlightRecord.State.FAILED);
    assertThat(failed.completedNanos()).isGreaterThanOrEqualTo(failed.startedNanos());
    assertThat(failed.sequenceNumber()).isEqualTo(5);
    assertThat(failed.timeoutMillis()).isEqualTo(1000);
  }
}
