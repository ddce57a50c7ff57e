package org.sparkcollectives.recorder;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.sparkcollectives.recorder.FlightRecord.State.COMPLETED;
import static org.sparkcollectives.recorder.FlightRecord.State.STARTED;
import static org.sparkcollectives.recorder.Traces.allReduce;
import static org.sparkcollectives.recorder.Traces.dump;
import static org.sparkcollectives.recorder.Traces.record;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.OpType;

/**
 * PyTorch's own analyser reads the dumps. Takes the Python that {@code examples/comparison
 * --install} makes, or the one in {@code -Dcollectives.python}; skipped where it has no PyTorch.
 */
class TorchAnalyserTest {

  private static final String ANALYSER = "torch.distributed.flight_recorder.fr_trace";
  private static final Path PYTHON =
      Path.of(System.getProperty("collectives.python", "../target/python/bin/python"));

  @TempDir Path folder;

  @BeforeAll
  static void pythonHasTheAnalyser() throws Exception {
    assumeTrue(
        Files.isExecutable(PYTHON),
        "PyTorch's analyser is not asked, because there is no Python at " + PYTHON);
    assumeTrue(
        run("-c", "import " + ANALYSER).exit == 0,
        "PyTorch's analyser is not asked, because " + PYTHON + " has no PyTorch with " + ANALYSER);
  }

  private record Outcome(int exit, String output) {}

  private static Outcome run(String... arguments) throws Exception {
    Path output = Files.createTempFile("analyser", ".txt");
    try {
      Process process =
          new ProcessBuilder(
                  Stream.concat(Stream.of(PYTHON.toString()), Stream.of(arguments)).toList())
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      if (!process.waitFor(120, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
        throw new AssertionError(
            "Python did not end within 120 s: " + Files.readString(output, UTF_8));
      }
      return new Outcome(process.exitValue(), Files.readString(output, UTF_8));
    } finally {
      Files.delete(output);
    }
  }

  private String analysed(FlightDump... dumps) throws Exception {
    write(dumps);
    Outcome outcome = run("-m", ANALYSER, folder.toString());
    assertThat(outcome.exit).as(outcome.output).isZero();
    return outcome.output;
  }

  private void write(FlightDump... dumps) throws IOException {
    for (FlightDump dump : dumps) {
      new DumpFolder(folder).write(dump);
    }
  }

  @Test
  void itFindsNothingWhereNothingIsWrong() throws Exception {
    FlightRecord[] records = {
      allReduce(0, COMPLETED, 1),
      // Messages are between two ranks only, and must not mislead it.
      record(7, OpType.SEND, 4, "to rank 1, tag 0", 1, COMPLETED, 1),
      record(1, OpType.ALL_GATHER_INTO, 4, "", -1, COMPLETED, 1),
      allReduce(2, COMPLETED, 1)
    };
    // An all-gather's output is larger.
    FlightRecord gather = records[2];
    records[2] =
        new FlightRecord(
            gather.id(),
            gather.group(),
            gather.opType(),
            gather.sequenceNumber(),
            gather.dtype(),
            4,
            12,
            12,
            "",
            -1,
            gather.state(),
            gather.thread(),
            gather.createdNanos(),
            gather.startedNanos(),
            gather.completedNanos(),
            gather.timeoutMillis());
    assertThat(analysed(dump(0, records), dump(1, records), dump(2, records)))
        .doesNotContain("rror", "Not all ranks", "mismatch", "unrecognized");
  }

  @Test
  void itNamesTheRankThatIsMissing() throws Exception {
    String output =
        analysed(
            dump(0, allReduce(0, COMPLETED, 1), allReduce(1, STARTED, 0)),
            dump(1, allReduce(0, COMPLETED, 1), allReduce(1, STARTED, 0)),
            dump(2, allReduce(0, COMPLETED, 1)));
    assertThat(output)
        .contains("Not all ranks joining collective, sequence number: 1")
        .contains("missing ranks: {2}");
  }

  @Test
  void itNamesTheRankWithOtherSizes() throws Exception {
    String output =
        analysed(
            dump(0, allReduce(0, STARTED, 0)),
            dump(1, allReduce(0, 5, STARTED, 0)),
            dump(2, allReduce(0, STARTED, 0)));
    assertThat(output)
        .contains("Culprit rank 1; Error type: SIZE_OR_SYNTAX_MISMATCH")
        .contains("Expected input sizes: '[[4]]' does not match found input sizes: '[[5]]'");
  }
}
