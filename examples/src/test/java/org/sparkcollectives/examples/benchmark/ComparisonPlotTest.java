package org.sparkcollectives.examples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class ComparisonPlotTest {

  private static String table(String path, String operation, String micros) {
    return "{\"path\": \"%s\", \"operation\": \"%s\", \"rows\": [{\"bytes\": 4, \"micros\": {%s}}]}"
        .formatted(path, operation, micros);
  }

  private static ResultPlot plot(String... tables) throws IOException {
    String text = "{\"ranks\": 2, \"tables\": [%s]}".formatted(String.join(", ", tables));
    return ComparisonPlot.of(new ObjectMapper().readTree(text));
  }

  @Test
  void oursHasACurveForEachPathAndAPeerHasOne() throws IOException {
    ResultPlot plot =
        plot(
            table("one JVM", "all-reduce", "\"spark-collectives\": 1, \"Gloo\": 200"),
            table("TCP", "all-reduce", "\"spark-collectives\": 20, \"Gloo\": 210"),
            table("TCP", "broadcast", "\"spark-collectives\": 30, \"MPI tcp\": 10"));
    assertThat(plot.has("one JVM", 4)).isTrue();
    assertThat(plot.has("TCP", 4)).isTrue();
    assertThat(plot.has("Gloo", 4)).isTrue();
    assertThat(plot.has("MPI tcp", 4)).as("of another operation").isFalse();
  }

  @Test
  void withoutAllReduceItIsTheFirstOperation() throws IOException {
    ResultPlot plot = plot(table("TCP", "broadcast", "\"spark-collectives\": 30"));
    assertThat(plot.has("TCP", 4)).isTrue();
  }

  @Test
  void axesHaveUnits() {
    assertThat(ResultPlot.label(1, "B", "kB")).isEqualTo("1 B");
    assertThat(ResultPlot.label(100, "B", "kB")).isEqualTo("100 B");
    assertThat(ResultPlot.label(1000, "B", "kB")).isEqualTo("1 kB");
    assertThat(ResultPlot.label(1e5, "B", "kB")).isEqualTo("100 kB");
    assertThat(ResultPlot.label(1e7, "B", "kB")).as("the last unit goes on").isEqualTo("10000 kB");
  }
}
