package org.sparkcollectives.examples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ColdStartTest {

  private static final GroupSettings TCP = new GroupSettings(List.of("tcp"), Map.of());

  @Test
  void processorTimeGrowsFromMilestoneToMilestone() throws Exception {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    new ColdStart(2, 20, TCP, List.of())
        .run(new PrintStream(printed, true, StandardCharsets.UTF_8));
    List<String> lines = printed.toString(StandardCharsets.UTF_8).lines().toList();
    assertThat(lines)
        .filteredOn(line -> line.contains("returned"))
        .extracting(line -> line.trim().replaceAll("  .*", ""))
        .containsExactly("call 1 returned", "call 10 returned", "call 20 returned");
    List<Double> used =
        lines.stream()
            .filter(line -> line.startsWith("  ") && !line.contains("compilation"))
            .map(line -> Double.valueOf(line.trim().split(" {2,}", -1)[1]))
            .toList();
    assertThat(used).hasSize(7).isSorted().first().satisfies(ms -> assertThat(ms).isPositive());
    assertThat(lines)
        .anyMatch(line -> line.matches("# [0-9]{3,} classes loaded; means of 2 ranks"));
  }

  @Test
  void theOptionsReachTheJvmsOfTheRanks() {
    PrintStream nowhere =
        new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
    assertThatThrownBy(() -> new ColdStart(2, 1, TCP, List.of("-Xmx1k")).run(nowhere))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("The JVM of a rank ended with status 1");
  }

  @Test
  void theCommandMeasuresIt() {
    StringWriter errors = new StringWriter();
    int status =
        CollectivesBenchmark.commandLine(new CollectivesBenchmark())
            .setErr(new PrintWriter(errors, true))
            .execute("--processes=2", "--transports=tcp", "--cold=10", "--java-option=-Xint");
    assertThat(status).as(errors.toString()).isZero();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "--cold=0 --processes=2; --cold must be 1 or more",
        "--cold=1 --threads=2; --cold needs --processes",
        "--cold=1 --processes=2 --threads=2; --cold needs --processes",
        "--cold=1 --join=tcp://127.0.0.1:1?rank=1&world_size=2; --cold needs --processes",
        "--cold=1 --processes=2 --json=x; --cold measures all-reduces of 4 B: leave out --json",
        "--cold=1 --processes=2 --dtype=float64; leave out --dtype",
        "--java-option=-Xint --processes=2; --java-option is for --cold"
      })
  void whatDoesNotFitIsRefused(String options, String message) {
    StringWriter errors = new StringWriter();
    int status =
        CollectivesBenchmark.commandLine(new CollectivesBenchmark())
            .setErr(new PrintWriter(errors, true))
            .execute(options.split(" ", -1));
    assertThat(status).isNotZero();
    assertThat(errors.toString()).contains(message);
  }
}
