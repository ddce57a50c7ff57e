package org.sparkcollectives.recorder;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.sparkcollectives.FlightRecord.State.COMPLETED;
import static org.sparkcollectives.FlightRecord.State.STARTED;
import static org.sparkcollectives.recorder.Traces.allReduce;
import static org.sparkcollectives.recorder.Traces.dump;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

@ResourceLock(Resources.SYSTEM_OUT)
class FlightTraceTest {

  @TempDir Path folder;

  private String run(String... arguments) throws IOException {
    List<String> all = new ArrayList<>(List.of(folder.toString()));
    all.addAll(List.of(arguments));
    PrintStream before = System.out;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (PrintStream out = new PrintStream(bytes, true, UTF_8)) {
      System.setOut(out);
      FlightTrace.main(all.toArray(String[]::new));
    } finally {
      System.setOut(before);
    }
    return bytes.toString(UTF_8);
  }

  private void twoMismatchesOfTwoRanks() throws IOException {
    dump(0, allReduce(0, COMPLETED, 1), allReduce(1, 5, STARTED, 0), allReduce(2, 7, STARTED, 0))
        .writeTo(folder);
    dump(1, allReduce(0, COMPLETED, 1), allReduce(1, 6, STARTED, 0), allReduce(2, 8, STARTED, 0))
        .writeTo(folder);
  }

  @Test
  void theFirstMismatchIsShownAndMoreIfAsked() throws IOException {
    twoMismatchesOfTwoRanks();
    assertThat(run()).contains("#1 (float32 x 5").doesNotContain("#2 (float32 x 7");
    assertThat(run("--mismatch_cap", "2")).contains("#1 (float32 x 5").contains("#2 (float32 x 7");
  }

  @Test
  void missingDumpsAreNamedUnlessTheyMayBeMissing() throws IOException {
    twoMismatchesOfTwoRanks();
    assertThat(run()).contains("There is no dump of rank 2");
    assertThat(run("--allow-incomplete-ranks")).doesNotContain("There is no dump");
  }

  @Test
  void ranksAndGroupsAreSelected() throws IOException {
    twoMismatchesOfTwoRanks();
    assertThat(run("--selected-ranks", "1"))
        .contains("rank 1 (host-1")
        .doesNotContain("rank 0 (host-0", "do not match");
    assertThat(run("--pg-filters", "another group")).contains("0 records");
    assertThat(run("--pg-filters", "stage 1.0", "other")).contains("3 records");
    assertThatThrownBy(() -> run("--selected-ranks", "7"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("of ranks [7]");
  }

  @Test
  void theRecordsAreListed() throws IOException {
    twoMismatchesOfTwoRanks();
    assertThat(run("-j").lines())
        .hasSize(7)
        .anyMatch(line -> line.contains("rank 1 STARTED all-reduce #1 (float32 x 6, SUM) [[6]]"))
        .noneMatch(line -> line.contains("do not match"));
    assertThat(run("-v")).contains("rank 0 COMPLETED").contains("do not match");
  }

  @Test
  void theFilesMayHaveAnotherNameAndTheTraceItsOption() throws IOException {
    Files.writeString(folder.resolve("mine_0.json"), dump(0).toJson());
    Path trace = folder.resolve("trace.json");
    assertThat(run("-p", "mine_", "-o", trace.toString())).contains("rank 0 (host-0");
    assertThat(trace).isNotEmptyFile();
  }

  @Test
  void theFilesOfPyTorchsAnalyserAreAligned() throws IOException {
    dump(0, allReduce(1, COMPLETED, 1), allReduce(2, COMPLETED, 1)).writeTo(folder);
    dump(1, allReduce(2, COMPLETED, 1)).writeTo(folder);
    byte[] before = Files.readAllBytes(folder.resolve("rank_0"));
    run();
    assertThat(folder.resolve("rank_0")).hasBinaryContent(before);
    run("--align");
    assertThat(Files.size(folder.resolve("rank_0"))).isLessThan(before.length);
  }

  @Test
  void whatIsWrongIsRefusedWithTheUsage() {
    for (String[] wrong :
        List.of(
            new String[] {"--nonsense"},
            new String[] {"-p"},
            new String[] {"--mismatch-cap", "many"},
            new String[] {"one.json", "two.json"})) {
      assertThatThrownBy(() -> run(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("Usage: FlightTrace");
    }
    assertThatThrownBy(() -> run("--print_stack_trace"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Records have no stack traces");
  }
}
