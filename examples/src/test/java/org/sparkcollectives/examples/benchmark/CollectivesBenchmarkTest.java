package org.sparkcollectives.examples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;

class CollectivesBenchmarkTest {

  private static final List<String> SMALL = List.of("--iterations=3", "--warmup=1");

  @TempDir private Path directory;
  private final StringWriter errors = new StringWriter();

  private int execute(String... options) {
    List<String> all = new ArrayList<>(SMALL);
    all.addAll(List.of(options));
    return executeOnly(all);
  }

  private int executeOnly(List<String> options) {
    List<String> all = new ArrayList<>(options);
    all.add("--max-bytes=1k");
    all.add("--json=" + directory.resolve("results.json"));
    return CollectivesBenchmark.commandLine(new CollectivesBenchmark())
        .setErr(new PrintWriter(errors, true))
        .execute(all.toArray(String[]::new));
  }

  private JsonNode results() throws IOException {
    return new ObjectMapper().readTree(directory.resolve("results.json").toFile());
  }

  private static long wrongElements(JsonNode results) {
    assertThat(results.get("results")).isNotEmpty();
    long sum = 0;
    for (JsonNode each : results.get("results")) {
      assertThat(each.get("wrongElements").isNumber()).isTrue();
      sum += each.get("wrongElements").asLong();
    }
    return sum;
  }

  @Test
  void withASkewTimesBeginWhenTheLastRankCalls() throws IOException {
    int status = execute("--threads=2", "--pause=1ms", "--skew=100ms", "--operation=barrier");
    assertThat(status).as(errors.toString()).isZero();
    JsonNode measured = results().get("results").get(0);
    assertThat(measured.get("minMicros").asDouble()).isBetween(0.1, 100_000.0);
    assertThat(results().get("skewMicros").asDouble()).isEqualTo(100_000);
  }

  @Test
  void aSkewNeedsRanksThatWait() {
    assertThat(execute("--threads=1", "--skew=1ms")).isEqualTo(2);
    assertThat(errors.toString()).contains("--pause and --skew need 2 ranks or more");
  }

  @ParameterizedTest
  @EnumSource(Operation.class)
  void anOperationThatIsPreparedIsRightAndOthersAreRefused(Operation operation) throws IOException {
    int status =
        execute("--threads=3", "--operation=" + operation.label(), "--root=1", "--persistent");
    if (operation.canBePrepared()) {
      assertThat(status).as(errors.toString()).isZero();
      assertThat(wrongElements(results())).isZero();
      assertThat(results().get("persistent").asBoolean()).isTrue();
    } else {
      assertThat(status).isEqualTo(2);
      assertThat(errors.toString())
          .contains("--persistent is for all-reduce, broadcast, all-gather, reduce-scatter and")
          .contains("not for " + operation.label());
    }
  }

  @ParameterizedTest
  @EnumSource(value = Operation.class, mode = EnumSource.Mode.EXCLUDE, names = "BARRIER")
  void everyOperationIsRightOnThreads(Operation operation) throws IOException {
    int status = execute("--threads=3", "--operation=" + operation.label(), "--root=1");
    assertThat(status).as(errors.toString()).isZero();
    assertThat(wrongElements(results())).isZero();
    assertThat(results().get("ranks").asInt()).isEqualTo(3);
    for (JsonNode each : results().get("results")) {
      assertThat(each.get("operation").asText()).isEqualTo(operation.label());
      assertThat(each.get("iterations").asInt()).isEqualTo(3);
      double median = each.get("medianMicros").asDouble();
      assertThat(median)
          .isBetween(each.get("minMicros").asDouble(), each.get("p99Micros").asDouble());
      assertThat(each.get("busBandwidth").asDouble())
          .isCloseTo(
              each.get("bytes").asDouble() / median / 1e3 * operation.busFactor(3), within(1e-9));
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"FLOAT8_E4M3", "FLOAT8_E5M2"})
  void everyTypeIsSummedUpRight(DType dtype) throws IOException {
    assertThat(execute("--threads=3", "--dtype=" + dtype.label())).as(errors.toString()).isZero();
    assertThat(wrongElements(results())).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"sum", "product", "min", "max", "band", "bor", "bxor"})
  void everyReductionIsRight(String reduction) throws IOException {
    int status = execute("--threads=3", "--dtype=int32", "--op=" + reduction);
    assertThat(status).as(errors.toString()).isZero();
    assertThat(wrongElements(results())).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"avg", "premul_sum"})
  void reductionsOfFloatingPointAreRight(String reduction) throws IOException {
    int status = execute("--threads=3", "--dtype=bfloat16", "--op=" + reduction);
    assertThat(status).as(errors.toString()).isZero();
    assertThat(wrongElements(results())).isZero();
  }

  @ParameterizedTest
  @EnumSource(MemoryKind.class)
  void everyKindOfMemoryIsRight(MemoryKind memory) throws IOException {
    int status = execute("--threads=2", "--operation=all-to-all", "--memory=" + memory);
    assertThat(status).as(errors.toString()).isZero();
    assertThat(wrongElements(results())).isZero();
  }

  @Test
  void processesOfTheirOwnAreMeasured() throws IOException {
    int status = execute("--processes=2", "--operation=all-gather", "--memory=direct");
    assertThat(status).as(errors.toString()).isZero();
    assertThat(wrongElements(results())).isZero();
    assertThat(results().get("place").asText()).isEqualTo("JVMs of one host");
  }

  @ParameterizedTest
  @ValueSource(strings = {"all-reduce", "all-gather", "all-to-all", "broadcast"})
  void processesOfSeveralRanksAreMeasured(String operation) throws IOException {
    int status = execute("--processes=2", "--threads=2", "--operation=" + operation);
    assertThat(status).as(errors.toString()).isZero();
    assertThat(wrongElements(results())).isZero();
    assertThat(results().get("ranks").asInt()).isEqualTo(4);
    assertThat(results().get("place").asText()).isEqualTo("JVMs of one host with 2 ranks each");
  }

  @Test
  void ranksThatJoinEachOtherAreMeasured() throws IOException {
    String url;
    try (ServerSocket free = new ServerSocket(0)) {
      url = "--join=tcp://127.0.0.1:" + free.getLocalPort() + "?rank=0&world_size=1";
    }
    assertThat(execute(url, "--operation=all-reduce")).as(errors.toString()).isZero();
    assertThat(wrongElements(results())).isZero();
    assertThat(results().get("ranks").asInt()).isEqualTo(1);
    for (JsonNode each : results().get("results")) {
      assertThat(each.get("cpuMicros").asDouble()).isNotNegative();
    }
  }

  @Test
  void resultsThatAreWrongAreCountedAndEndInAnError() throws IOException {
    // The fake backend moves nothing.
    int status = execute("--threads=2", "--set=spark.collectives.backend=fake");
    assertThat(status).isEqualTo(1);
    assertThat(wrongElements(results())).isPositive();
  }

  @Test
  void withoutTheCheckNothingIsSaidAboutWrongElements() throws IOException {
    assertThat(execute("--threads=2", "--no-check")).isZero();
    assertThat(results().get("results").get(0).get("wrongElements").isNull()).isTrue();
  }

  @Test
  void aBarrierHasNoSize() throws IOException {
    assertThat(execute("--threads=2", "--operation=barrier")).as(errors.toString()).isZero();
    assertThat(results().get("results")).hasSize(1);
    assertThat(results().get("results").get(0).get("bytes").asLong()).isZero();
  }

  @Test
  void eachSizeIsMeasuredForSomeTime() throws IOException {
    int status = executeOnly(List.of("--threads=2", "--time=20ms", "--min-bytes=1k"));
    assertThat(status).as(errors.toString()).isZero();
    assertThat(results().get("results")).hasSize(1);
    assertThat(results().get("results").get(0).get("iterations").asInt()).isGreaterThanOrEqualTo(5);
  }

  @Test
  void thePlotIsAPicture() throws IOException {
    Path plot = directory.resolve("plot.png");
    assertThat(execute("--threads=2", "--plot=" + plot)).as(errors.toString()).isZero();
    BufferedImage picture = ImageIO.read(plot.toFile());
    assertThat(picture.getWidth()).isEqualTo(900);
    assertThat(Files.size(plot)).isGreaterThan(5_000);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--threads=0 | --threads must be 1 or more",
        "--threads=2 --root=2 --operation=broadcast | --root 2 is not one of the ranks 0 to 1",
        "--threads=1 --operation=send-recv | send-recv needs 2 ranks or more",
        "--threads=2 --op=band | --op band cannot be applied to --dtype float32",
        "--threads=2 --min-bytes=2k | --max-bytes must not be less than --min-bytes",
        "--threads=2 --factor=1 | --factor must be more than 1",
        "--threads=2 --compare | --compare needs Spark",
        "--threads=2 --set=spark.collectives.tiemout=1s | There is no setting"
            + " spark.collectives.tiemout",
        "--threads=2 --transports=pigeon | pigeon",
        "--threads=2 --operation=all-reduced | 'all-reduced' is none of all-reduce, reproducible-sum",
        "--threads=2 --ranks=2 | mutually exclusive",
        "--threads=2 --join=env:// | --join is one rank"
      })
  void badOptionsAreRefused(String options, String message) {
    assertThat(execute(options.split(" ", -1))).isEqualTo(2);
    assertThat(errors.toString()).contains(message).doesNotContain("\tat ");
  }
}
