package org.sparkcollectives.recorder;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.sparkcollectives.FlightRecord.State.COMPLETED;
import static org.sparkcollectives.FlightRecord.State.FAILED;
import static org.sparkcollectives.FlightRecord.State.SCHEDULED;
import static org.sparkcollectives.FlightRecord.State.STARTED;
import static org.sparkcollectives.recorder.Traces.allReduce;
import static org.sparkcollectives.recorder.Traces.dump;
import static org.sparkcollectives.recorder.Traces.record;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.FlightRecorder;
import org.sparkcollectives.OpType;

class DumpFolderTest {

  private static final FlightDump DUMP =
      dump(
          1,
          allReduce(0, COMPLETED, 1.5),
          allReduce(1, STARTED, 0),
          record(2, OpType.RECV, 3, "from rank 0, tag 1", 0, FAILED, 2),
          record(3, OpType.SEND, 3, "to rank 2, tag 1", 2, SCHEDULED, 0));

  @TempDir Path folder;

  private static List<Object> values(List<?> maps, String key) {
    List<Object> values = new ArrayList<>();
    maps.forEach(map -> values.add(((Map<?, ?>) map).get(key)));
    return values;
  }

  @Test
  void whatIsWrittenIsReadAgain() throws IOException {
    DumpFolder dumps = DumpFolder.of(folder, "app-1/stage 1.0/world", "request-2");
    dumps.write(DUMP);
    dumps.write(dump(0));
    assertThat(dumps.path()).isEqualTo(folder.resolve("app-1/stage-1.0/world/request-2"));
    assertThat(dumps.read()).containsExactly(dump(0), DUMP);
    try (var files = Files.list(dumps.path())) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("dump-0.json", "dump-1.json", "rank_0", "rank_1");
    }
  }

  @Test
  void aDumpWritesItselfAndIsReadAgain() throws IOException {
    DUMP.writeTo(folder.resolve("new"));
    assertThat(new DumpFolder(folder.resolve("new")).read()).containsExactly(DUMP);
    assertThat(DumpFolder.fromJson(DUMP.toJson().getBytes(UTF_8))).isEqualTo(DUMP);
  }

  @Test
  void theNotesOfARecordAreReadAgainAndTheTraceShowsTheLabel() {
    FlightRecord plain = allReduce(0, COMPLETED, 1.5);
    FlightRecord noted =
        new FlightRecord(
            plain.id(),
            plain.group(),
            plain.opType(),
            plain.sequenceNumber(),
            plain.dtype(),
            plain.inputShapes(),
            plain.outputShapes(),
            plain.agreedCount(),
            plain.detail(),
            plain.peer(),
            plain.state(),
            plain.thread(),
            plain.createdNanos(),
            plain.startedNanos(),
            plain.completedNanos(),
            plain.timeoutMillis(),
            new FlightRecord.Notes("gradients", "01234567", "89abcdef"));
    FlightDump dump = dump(0, noted);
    assertThat(DumpFolder.fromJson(dump.toJson().getBytes(UTF_8))).isEqualTo(dump);
    assertThat(dump.toJson()).contains("\"comm_label\"", "\"01234567\"", "\"89abcdef\"");
    assertThat(DUMP.toJson()).doesNotContain("comm_label", "input_hash", "output_hash");
    assertThat(new String(ChromeTrace.of(List.of(dump)), UTF_8))
        .contains("\"gradients: all-reduce #0\"");
  }

  @Test
  void aDumpLeavesOutWhatIsNotAskedFor() {
    assertThat(DUMP.onlyActive().records())
        .extracting(FlightRecord::state)
        .containsExactly(STARTED, SCHEDULED);
    assertThat(DUMP.withoutRecords().records()).isEmpty();
    assertThat(DUMP.withoutRecords().groups()).isEqualTo(DUMP.groups());
    FlightRecorder recorder =
        new FlightRecorder() {
          @Override
          public List<FlightRecord> records() {
            return DUMP.records();
          }

          @Override
          public FlightDump dump() {
            return DUMP;
          }

          @Override
          public void reset() {
            throw new AssertionError("nobody has asked for it");
          }

          @Override
          public void dumpAllRanks(String reason) {
            throw new AssertionError(reason);
          }
        };
    assertThat(recorder.dump(true, false)).isEqualTo(DUMP);
    assertThat(recorder.dump(true, true)).isEqualTo(DUMP.onlyActive());
    assertThat(recorder.dump(false, true)).isEqualTo(DUMP.withoutRecords());
    assertThat(recorder.toJson()).isEqualTo(DUMP.toJson());
  }

  @Test
  void aNameCannotLeadOutOfTheFolder() {
    assertThat(DumpFolder.of(folder, "../../etc/..", "failure").path())
        .isEqualTo(folder.resolve("-/-/etc/-/failure"));
  }

  @Test
  void theJsonHasTheFieldsOfC10d() {
    Map<?, ?> json = (Map<?, ?>) JsonText.read(DumpFolder.json(DUMP));
    assertThat(json.get("version")).isEqualTo("2.10");
    assertThat(json.get("pg_config"))
        .isEqualTo(
            Map.of(
                Traces.WORLD,
                Map.of("name", Traces.WORLD, "desc", "the \"world\"", "ranks", "[0, 1, 2]")));
    assertThat(json.get("pg_status"))
        .isEqualTo(
            Map.of(
                Traces.WORLD,
                Map.of(
                    "last_enqueued_collective", 1L,
                    "last_started_collective", 1L,
                    "last_completed_collective", 0L)));
    List<?> entries = (List<?>) json.get("entries");
    assertThat(values(entries, "profiling_name"))
        .containsExactly(
            "netty:all_reduce", "netty:all_reduce", "netty:recv 1<-0", "netty:send 1->2");
    assertThat(values(entries, "state"))
        .containsExactly("completed", "started", "started", "scheduled");
    assertThat(((Map<?, ?>) entries.get(0)).get("duration_ms")).isEqualTo(1.5);
    assertThat(((Map<?, ?>) entries.get(1)).get("time_discovered_completed_ns")).isNull();
  }

  @Test
  void aFileThatIsNoDumpIsNamed() throws IOException {
    Path file =
        Files.write(folder.resolve("dump-0.json"), "{\"version\": \"1.0\"}".getBytes(UTF_8));
    DumpFolder dumps = new DumpFolder(folder);
    assertThatThrownBy(dumps::read)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(file.toString())
        .hasMessageContaining("version 1.0");
    Files.write(file, "{\"version\": \"2.10\"".getBytes(UTF_8));
    assertThatThrownBy(dumps::read)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(file.toString());
    Files.write(file, "[]".getBytes(UTF_8));
    assertThatThrownBy(dumps::read).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aDumpKeepsTheNewestRecordsWithinABound() {
    FlightRecord[] records =
        LongStream.range(0, RankDump.MOST_RECORDS + 5)
            .mapToObj(number -> allReduce(number, COMPLETED, 1))
            .toArray(FlightRecord[]::new);
    assertThat(dump(0, records).records())
        .hasSize(RankDump.MOST_RECORDS)
        .first()
        .extracting(FlightRecord::id)
        .isEqualTo(5L);
  }

  @Test
  void theTraceHasAProcessForEachRankAndAnEventForEachOperation() throws IOException {
    DumpFolder dumps = new DumpFolder(folder);
    dumps.write(DUMP);
    dumps.write(dump(0, allReduce(0, COMPLETED, 1.5)));
    Path trace = folder.resolve("trace.json");
    FlightTrace.main(new String[] {folder.toString(), trace.toString()});

    Map<?, ?> json = (Map<?, ?>) JsonText.read(Files.readAllBytes(trace));
    List<?> events = (List<?>) json.get("traceEvents");
    assertThat(values(events, "ph"))
        .containsExactly("M", "M", "X", "M", "M", "X", "X", "b", "e", "b", "e");
    Map<?, ?> done = (Map<?, ?>) events.get(2);
    assertThat(done.get("name")).isEqualTo("all-reduce #0");
    assertThat(done.get("pid")).isEqualTo(0L);
    assertThat(done.get("dur")).isEqualTo(1500.0);
    assertThat(((Map<?, ?>) ((Map<?, ?>) events.get(6)).get("args")).get("state"))
        .isEqualTo("STARTED");
  }

  @Test
  void theProgramRefusesAFolderWithoutDumps() {
    assertThatThrownBy(() -> FlightTrace.main(new String[] {folder.toString()}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(folder.toString());
    assertThatThrownBy(() -> FlightTrace.main(new String[0])).hasMessageContaining("Usage");
  }
}
