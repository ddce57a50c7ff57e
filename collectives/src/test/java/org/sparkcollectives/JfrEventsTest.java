package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** Tests what a recording of Java Flight Recorder holds of real groups. */
@ExtendWith(LeakCheck.class)
class JfrEventsTest {

  private static final String PREFIX = "org.sparkcollectives.";

  @TempDir Path folder;

  private static Recording recording() {
    Recording recording = new Recording();
    for (String name : List.of("Operation", "GroupOpened", "GroupClosed", "GroupFailed")) {
      recording.enable(PREFIX + name);
    }
    return recording;
  }

  /** Returns the events of a kind, of the group and rank. */
  private List<RecordedEvent> events(Recording recording, String kind, String group, int rank)
      throws IOException {
    Path file = folder.resolve(kind + rank + ".jfr");
    recording.dump(file);
    return RecordingFile.readAllEvents(file).stream()
        .filter(each -> each.getEventType().getName().equals(PREFIX + kind))
        .filter(each -> each.getString("group").equals(group) && each.getInt("rank") == rank)
        .sorted(Comparator.comparing(RecordedEvent::getStartTime)) // The file has them by thread.
        .toList();
  }

  @Test
  void aRecordingHasTheGroupAndItsOperations() throws IOException {
    try (Recording recording = recording()) {
      recording.start();
      GroupRuns.run(
          2,
          GroupOptions.defaults().withName("recorded").withDescription("of a test"),
          group -> {
            group.allReduce(Tensor.of(new float[256]), ReduceOp.MAX).await();
            group.barrier().await();
            if (group.rank() == 0) {
              group.send(Tensor.of(1L), 1, 5).await();
            } else {
              group.recv(Tensor.of(0L), 0, 5).await();
            }
            return null;
          });
      recording.stop();

      for (int rank = 0; rank < 2; rank++) {
        RecordedEvent opened = events(recording, "GroupOpened", "recorded", rank).get(0);
        assertThat(opened.getString("description")).isEqualTo("of a test");
        assertThat(opened.getInt("size")).isEqualTo(2);
        List<RecordedEvent> operations = events(recording, "Operation", "recorded", rank);
        assertThat(operations)
            .extracting(each -> each.getString("operation"))
            .containsExactly("all-reduce", "barrier", rank == 0 ? "send" : "recv");
        RecordedEvent sum = operations.get(0);
        assertThat(sum.getLong("bytes")).isEqualTo(1024);
        assertThat(sum.getString("dtype")).isEqualTo("float32");
        assertThat(sum.getString("detail")).isEqualTo("MAX");
        assertThat(sum.getString("algorithm")).isNotEmpty();
        assertThat(sum.getString("caller")).isEqualTo("rank-" + rank);
        assertThat(sum.getBoolean("succeeded")).isTrue();
        assertThat(sum.getDuration()).isPositive();
        assertThat(sum.getDuration("queued")).isBetween(Duration.ZERO, sum.getDuration());
        assertThat(operations.get(1).getLong("sequenceNumber")).isEqualTo(1);
        assertThat(operations.get(2).getInt("peer")).isEqualTo(1 - rank);
        RecordedEvent closed = events(recording, "GroupClosed", "recorded", rank).get(0);
        assertThat(closed.getLong("operations")).isEqualTo(3);
        assertThat(closed.getLong("failures")).isZero();
        assertThat(closed.getLong("bytes")).isEqualTo(1024 + 8);
      }
    }
  }

  @Test
  void aRecordingSaysWhyAGroupFailed() throws IOException {
    try (Recording recording = recording()) {
      recording.start();
      GroupRuns.run(
          2,
          GroupOptions.defaults().withName("failing"),
          group -> {
            if (group.rank() == 1) {
              group.abort(new IllegalStateException("out of patience"));
            }
            assertThatThrownBy(() -> group.barrier().await())
                .isInstanceOf(CollectiveException.class);
            return null;
          });
      recording.stop();

      for (int rank = 0; rank < 2; rank++) {
        List<RecordedEvent> failed = events(recording, "GroupFailed", "failing", rank);
        assertThat(failed).hasSize(1);
        assertThat(failed.get(0).getInt("failedRank")).isEqualTo(1);
        assertThat(failed.get(0).getString("kind")).isEqualTo("EXCEPTION");
        assertThat(failed.get(0).getString("cause"))
            .isEqualTo("java.lang.IllegalStateException: out of patience");
        assertThat(failed.get(0).getString("failedHost")).isNotEmpty();
      }
    }
  }

  @Test
  void aRecordingThatBeginsLaterHasTheOperationsCalledSince() throws IOException {
    try (Recording recording = recording()) {
      CyclicBarrier both = new CyclicBarrier(2);
      GroupRuns.run(
          2,
          GroupOptions.defaults().withName("late"),
          group -> {
            group.allReduce(Tensor.of(1f), ReduceOp.SUM).await();
            if (both.await() == 0) {
              recording.start();
            }
            both.await();
            group.allReduce(Tensor.of(2f), ReduceOp.SUM).await();
            if (both.await() == 0) {
              recording.stop();
            }
            both.await();
            group.allReduce(Tensor.of(3f), ReduceOp.SUM).await();
            return null;
          });

      assertThat(events(recording, "Operation", "late", 0))
          .extracting(each -> each.getLong("sequenceNumber"))
          .containsExactly(1L);
      assertThat(events(recording, "GroupOpened", "late", 0)).isEmpty();
    }
  }
}
