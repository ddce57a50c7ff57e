package org.sparkcollectives.examples.benchmark;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/** The costs of each operation by the number of ranks: printed, drawn, and as CSV. */
final class GrowthTable {

  private static final String CSV_HEAD =
      "operation,ranks,processes,hosts,iterations,median_us,cpu_us_per_rank,connections_per_rank,"
          + "direct_bytes_per_rank,wrong_elements";

  private final Map<String, List<GrowthPoint>> rows = new LinkedHashMap<>();

  void add(GrowthPoint point) {
    rows.computeIfAbsent(point.operation(), label -> new ArrayList<>()).add(point);
  }

  /** Returns whether there is nothing: this is not rank 0. */
  boolean isEmpty() {
    return rows.isEmpty();
  }

  /** Returns the wrong elements of all results. */
  long wrongElements() {
    return rows.values().stream().flatMap(List::stream).mapToLong(GrowthPoint::wrongElements).sum();
  }

  /** Prints a table for each kind of cost, with the law that it follows. */
  void print(PrintStream out) {
    print(out, "median time (us)", GrowthPoint::medianMicros);
    print(out, "CPU time of each rank and operation (us)", GrowthPoint::cpuMicros);
    print(out, "connection ends of each rank", GrowthPoint::connections);
    print(out, "direct memory of each rank (KiB)", point -> point.directBytes() / 1024);
  }

  private void print(PrintStream out, String heading, ToDoubleFunction<GrowthPoint> cost) {
    List<GrowthPoint> first = rows.values().iterator().next();
    StringBuilder head = new StringBuilder(cell("%n# %-20s", "ranks"));
    first.forEach(point -> head.append(cell("%12d", point.ranks())));
    out.println(cell("%n# %s", heading) + head + "  law");
    rows.forEach(
        (label, points) -> {
          double[] costs = points.stream().mapToDouble(cost).toArray();
          StringBuilder row = new StringBuilder(cell("  %-20s", label));
          for (double each : costs) {
            row.append(cell(each < 1000 ? "%12.1f" : "%12.0f", each));
          }
          out.println(row + "  " + law(points, costs));
        });
  }

  private static String law(List<GrowthPoint> points, double[] costs) {
    boolean known =
        points.size() >= GrowthLaw.FEWEST_POINTS
            && IntStream.range(0, costs.length).allMatch(i -> costs[i] > 0);
    int[] ranks = points.stream().mapToInt(GrowthPoint::ranks).toArray();
    return known ? GrowthLaw.of(ranks, costs).toString() : "-";
  }

  /** Draws the times, and below them the processor times. */
  void draw(String title, Path file) throws IOException {
    ResultPlot plot = ResultPlot.byRanks(title);
    rows.forEach(
        (label, points) ->
            points.forEach(
                point -> plot.add(label, point.ranks(), point.medianMicros(), point.cpuMicros())));
    plot.write(file);
  }

  /** Writes a line for each operation and number of ranks. */
  void write(Path file) throws IOException {
    List<String> lines = new ArrayList<>(List.of(CSV_HEAD));
    for (List<GrowthPoint> points : rows.values()) {
      for (GrowthPoint point : points) {
        lines.add(
            cell(
                "%s,%d,%d,%d,%d,%.3f,%.3f,%.2f,%.0f,%d",
                point.operation(),
                point.ranks(),
                point.processes(),
                point.hosts(),
                point.iterations(),
                point.medianMicros(),
                point.cpuMicros(),
                point.connections(),
                point.directBytes(),
                point.wrongElements()));
      }
    }
    Files.write(file, lines);
  }

  private static String cell(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
