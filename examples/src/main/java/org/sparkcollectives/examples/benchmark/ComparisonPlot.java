package org.sparkcollectives.examples.benchmark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Draws the measurements of {@code examples/comparison} for one operation: a curve for each path.
 */
final class ComparisonPlot {

  private static final String OPERATION = "all-reduce";

  private ComparisonPlot() {}

  /** Draws the plot. Arguments: the file of the comparison, and the picture to write. */
  public static void main(String[] args) throws IOException {
    JsonNode comparison = new ObjectMapper().readTree(Path.of(args[0]).toFile());
    of(comparison).writeTimes(Path.of(args[1]));
  }

  /** Returns the plot of all-reduce, or of the first operation if all-reduce was not measured. */
  static ResultPlot of(JsonNode comparison) {
    JsonNode tables = comparison.get("tables");
    String operation =
        tables.findValuesAsText("operation").contains(OPERATION)
            ? OPERATION
            : tables.get(0).get("operation").asText();
    int ranks = comparison.get("ranks").asInt();
    double factor = Operation.of(operation).busFactor(ranks);
    ResultPlot plot = new ResultPlot(operation + ", " + ranks + " ranks");
    for (JsonNode table : tables) {
      if (table.get("operation").asText().equals(operation)) {
        table.get("rows").forEach(row -> addRow(plot, table.get("path").asText(), row, factor));
      }
    }
    return plot;
  }

  private static void addRow(ResultPlot plot, String path, JsonNode row, double factor) {
    long bytes = row.get("bytes").asLong();
    row.get("micros")
        .fieldNames()
        .forEachRemaining(
            name -> {
              double micros = row.get("micros").get(name).asDouble();
              boolean ours = name.equals(RankBenchmark.IMPLEMENTATION);
              if (!ours) {
                plot.isPeer(name);
              }
              // The figures of a peer are the same for each of our paths, so they are added once.
              if (ours || !plot.has(name, bytes)) {
                plot.add(ours ? path : name, bytes, micros, factor * bytes / micros / 1e3);
              }
            });
  }
}
