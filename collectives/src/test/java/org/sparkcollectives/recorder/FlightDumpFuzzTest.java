package org.sparkcollectives.recorder;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkcollectives.FlightRecord.State.COMPLETED;
import static org.sparkcollectives.FlightRecord.State.SCHEDULED;
import static org.sparkcollectives.FlightRecord.State.STARTED;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.OpType;

/** Tests that any file is either a dump, of which there is a report, or refused. */
class FlightDumpFuzzTest {

  static Stream<byte[]> seeds() {
    FlightDump dump =
        Traces.dump(
            1,
            Traces.allReduce(0, COMPLETED, 1.5),
            Traces.allReduce(1, STARTED, 0),
            Traces.record(2, OpType.SEND, 3, "to rank 2, tag 1", 2, SCHEDULED, 0));
    return Stream.of(
        DumpFolder.json(dump),
        DumpFolder.json(Traces.dump(0)),
        "[]".getBytes(UTF_8),
        "{\"version\": \"2.10\"".getBytes(UTF_8),
        "null".getBytes(UTF_8),
        "{\"version\": \"2.10\", \"pg_config\": {}, \"entries\": [{}]}".getBytes(UTF_8));
  }

  @MethodSource("seeds")
  @FuzzTest
  void anyFileIsADumpOfWhichThereIsAReportOrSaidToBeNone(byte[] json) {
    FlightDump dump;
    try {
      dump = DumpFolder.fromJson(json);
    } catch (IllegalArgumentException e) {
      assertThat(e.getMessage()).isNotNull();
      return;
    }
    assertThat(FlightTrace.report(List.of(dump, Traces.dump(0)))).isNotBlank();
    assertThat(ChromeTrace.of(List.of(dump))).isNotEmpty();
    assertThat(PickleWriter.write(TorchLayout.of(dump))).isNotEmpty();
  }
}
