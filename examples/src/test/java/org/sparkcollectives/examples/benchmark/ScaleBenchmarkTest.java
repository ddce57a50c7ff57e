package org.sparkcollectives.examples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScaleBenchmarkTest {

  @TempDir private Path directory;
  private final StringWriter errors = new StringWriter();

  private int execute(String... options) {
    List<String> all = new ArrayList<>(List.of("--time=5ms", "--warmup=1ms"));
    all.addAll(List.of(options));
    all.add("--csv=" + directory.resolve("scale.csv"));
    all.add("--plot=" + directory.resolve("scale.png"));
    return ScaleBenchmark.commandLine(new ScaleBenchmark())
        .setErr(new PrintWriter(errors, true))
        .execute(all.toArray(String[]::new));
  }

  /** Returns the cells of each line of the CSV. */
  private List<List<String>> rows() throws IOException {
    try (Stream<String> lines = Files.lines(directory.resolve("scale.csv"))) {
      return lines.skip(1).map(line -> List.of(line.split(",", -1))).toList();
    }
  }

  @Test
  void everyOperationIsMeasuredOnGrowingNumbersOfRanks() throws IOException {
    assertThat(execute("--threads=6")).as(errors.toString()).isZero();
    List<String> operations = new ArrayList<>();
    GrowthCase.ALL.forEach(each -> operations.add(each.label()));
    operations.addAll(List.of(GrowthCase.CREATION, GrowthCase.CLOSE));
    for (String ranks : List.of("2", "4", "6")) {
      assertThat(rows())
          .filteredOn(row -> row.get(1).equals(ranks))
          .extracting(row -> row.get(0))
          .as("%s ranks", ranks)
          .containsExactlyInAnyOrderElementsOf(operations);
    }
    assertThat(rows()).extracting(row -> row.get(9)).as("wrong elements").containsOnly("0");
    assertThat(rows()).extracting(row -> row.get(2)).as("processes").containsOnly("1");
    assertThat(ImageIO.read(directory.resolve("scale.png").toFile())).isNotNull();
  }

  @Test
  void connectionsAreThoseOfTheGroup() throws IOException {
    int status = execute("--processes=2", "--threads=2", "--transports=tcp");
    assertThat(status).as(errors.toString()).isZero();
    assertThat(rows()).extracting(row -> row.get(2)).as("processes").containsOnly("2");
    assertThat(rows())
        .filteredOn(row -> row.get(0).equals("all-to-all 1 MiB"))
        .allSatisfy(row -> assertThat(Double.parseDouble(row.get(7))).isGreaterThanOrEqualTo(1));
    assertThat(rows())
        .filteredOn(row -> row.get(0).equals(GrowthCase.CLOSE))
        .extracting(row -> row.get(7))
        .containsOnly("0.00");
  }

  @Test
  void theNumbersOfRanksCanBeChosen() throws IOException {
    assertThat(execute("--threads=4", "--counts=3")).as(errors.toString()).isZero();
    assertThat(rows()).extracting(row -> row.get(1)).containsOnly("3");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--threads=1 | A growth table needs 2 ranks or more, and there is room for 1",
        "--threads=4 --counts=8 | --counts 8 is not one of 2 to 4",
        "--threads=4 --counts=1 | --counts 1 is not one of 2 to 4",
        "--threads=2 --ranks=2 | mutually exclusive",
        "--threads=2 --set=spark.collectives.tiemout=1s | There is no setting"
            + " spark.collectives.tiemout"
      })
  void badOptionsAreRefused(String options, String message) {
    assertThat(execute(options.split(" ", -1))).isEqualTo(2);
    assertThat(errors.toString()).contains(message).doesNotContain("\tat ");
  }
}
