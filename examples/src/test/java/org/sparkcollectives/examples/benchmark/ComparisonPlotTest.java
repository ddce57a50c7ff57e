package org.sparkcollectives.examples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.XYStyler;

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
    List<String> units = List.of("ns", "µs");
    assertThat(ResultPlot.size(2)).isEqualTo("4 B");
    assertThat(ResultPlot.size(16)).isEqualTo("64 KiB");
    assertThat(ResultPlot.size(1.5)).isEqualTo("2.8 B");
    assertThat(ResultPlot.decimal(0, units)).isEqualTo("1 ns");
    assertThat(ResultPlot.decimal(-1, units)).isEqualTo("0.1 ns");
    assertThat(ResultPlot.decimal(3.5, units)).isEqualTo("3.2 µs");
    assertThat(ResultPlot.decimal(5, units)).isEqualTo("100 µs");
    assertThat(ResultPlot.decimal(7, units)).as("the last unit goes on").isEqualTo("10000 µs");
  }

  @Test
  void curvesByRanksHaveNumbersOfRanks() {
    ResultPlot plot = ResultPlot.byRanks("");
    plot.add("barrier", 8, 100, 30);
    XYChart chart = plot.timesChart();
    XYSeries series = chart.getSeriesMap().get("barrier");
    assertThat(chart.getXAxisTitle()).isEqualTo("ranks");
    assertThat(chart.getStyler().getxAxisTickLabelsFormattingFunction().apply(series.getXData()[0]))
        .isEqualTo("8");
    assertThat(ResultPlot.number(12)).as("4096 ranks").isEqualTo("4096");
  }

  @Test
  void aCostThatWasTooSmallToMeasureIsLeftOut() {
    ResultPlot plot = ResultPlot.byRanks("");
    plot.add("barrier", 2, 0, 0);
    plot.add("barrier", 4, 1, 0);
    plot.add("nothing", 2, 0, 0);
    assertThat(plot.timesChart().getSeriesMap()).containsOnlyKeys("barrier");
    assertThat(plot.timesChart().getSeriesMap().get("barrier").getXData()).containsExactly(2);
  }

  @Test
  void theLabelAtAPointIsItsSizeAndTime() {
    ResultPlot plot = new ResultPlot("");
    plot.add("ours", 1024, 100, 1);
    XYChart chart = plot.timesChart();
    XYSeries series = chart.getSeriesMap().get("ours");
    XYStyler style = chart.getStyler();
    assertThat(style.getxAxisTickLabelsFormattingFunction().apply(series.getXData()[0]))
        .isEqualTo("1 KiB");
    assertThat(style.getyAxisTickLabelsFormattingFunction().apply(series.getYData()[0]))
        .isEqualTo("100 µs");
    assertThat(style.isXAxisLogarithmic()).as("which would number another axis").isFalse();
    assertThat(style.isYAxisLogarithmic()).isFalse();
  }
}
