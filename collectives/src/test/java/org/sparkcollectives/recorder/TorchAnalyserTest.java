package org.sparkcollectives.recorder;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.sparkcollectives.FlightRecord.State.COMPLETED;
import static org.sparkcollectives.FlightRecord.State.STARTED;
import static org.sparkcollectives.recorder.Traces.allReduce;
import static org.sparkcollectives.recorder.Traces.dump;
import static org.sparkcollectives.recorder.Traces.record;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.GroupStatus;
import org.sparkcollectives.OpType;
import org.sparkcollectives.RankLocation;

/**
 * Tests that PyTorch's own analyser reads the dumps. Uses the Python that {@code
 * examples/comparison --install} makes, or the one in {@code -Dcollectives.python}; skipped where
 * it has no PyTorch.
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
      // This receive has no known peer.
      record(7, OpType.RECV_ANY, 4, "from any rank, tag 0", -1, STARTED, 1),
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
            List.of(List.of(4L)),
            List.of(List.of(12L)),
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
  void itMatchesTheMessagesOfTwoRanks() throws Exception {
    FlightRecord send = record(1, OpType.SEND, 4, "to rank 2, tag 5", 2, COMPLETED, 1);
    FlightRecord other = record(2, OpType.SEND, 3, "to rank 2, tag 6", 2, COMPLETED, 1);
    FlightRecord receive = record(1, OpType.RECV, 3, "from rank 0, tag 6", 0, COMPLETED, 1);
    FlightRecord last = record(2, OpType.RECV, 4, "from rank 0, tag 5", 0, COMPLETED, 1);
    assertThat(
            analysed(
                dump(0, allReduce(0, COMPLETED, 1), send, other),
                dump(1, allReduce(0, COMPLETED, 1)),
                dump(2, allReduce(0, COMPLETED, 1), receive, last)))
        .doesNotContain("rror", "Not all ranks", "mismatch", "unrecognized");
  }

  @Test
  void itNamesTheRankThatHasNotReceived() throws Exception {
    FlightRecord send = record(1, OpType.SEND, 4, "to rank 2, tag 5", 2, STARTED, 0);
    assertThat(
            analysed(
                dump(0, allReduce(0, COMPLETED, 1), send),
                dump(1, allReduce(0, COMPLETED, 1)),
                dump(2, allReduce(0, COMPLETED, 1))))
        .contains("Not all ranks joining")
        .contains("missing ranks: {2}");
  }

  @Test
  void itFindsNothingWhereRanksHaveForgottenDifferentThingsOnceTheyAreAligned() throws Exception {
    FlightDump[] dumps = {twoGroups(0, 10, 3, 7), twoGroups(1, 11, 5, 6), twoGroups(2, 9, 4, 8)};
    write(dumps);
    new DumpFolder(folder).align(List.of(dumps));
    Outcome outcome = run("-m", ANALYSER, folder.toString());
    assertThat(outcome.exit).as(outcome.output).isZero();
    assertThat(outcome.output).doesNotContain("rror", "Not all ranks", "mismatch");
  }

  /**
   * Returns the dump of a rank whose ring is full, and which remembers two groups from different
   * numbers on.
   */
  private static FlightDump twoGroups(int rank, long firstId, long first, long second) {
    List<FlightRecord> records = new ArrayList<>();
    for (long number = Math.min(first, second); number < 12; number++) {
      if (number >= first) {
        records.add(inGroup("one", firstId + records.size(), number));
      }
      if (number >= second) {
        records.add(inGroup("two", firstId + records.size(), number));
      }
    }
    List<GroupStatus> groups =
        List.of(
            new GroupStatus("one", "", List.of(0, 1, 2), 11, 11, 11),
            new GroupStatus("two", "", List.of(0, 1, 2), 11, 11, 11));
    return new RankDump(
        new RankLocation(rank, "host", "" + rank, rank), "a test", 2, groups, records);
  }

  private static FlightRecord inGroup(String group, long id, long number) {
    List<List<Long>> shapes = List.of(List.of(4L));
    return new FlightRecord(
        id,
        group,
        OpType.ALL_REDUCE,
        number,
        "float32",
        shapes,
        shapes,
        4,
        "SUM",
        -1,
        COMPLETED,
        "task",
        1 + number,
        1 + number,
        2 + number,
        30_000);
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
