package org.sparkcollectives.examples.benchmark;

import java.awt.Color;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * Curves by size or by number of ranks, all axes logarithmic: the time, and below it the bus
 * bandwidth or the processor time.
 */
final class ResultPlot {

  private static final int WIDTH = 900;
  private static final int HEIGHT = 450;
  private static final List<Color> OURS =
      List.of(new Color(0x08306B), new Color(0x2171B5), new Color(0x4BA3DB), new Color(0x9ECAE1));
  private static final List<Color> OTHERS =
      List.of(new Color(0xE6862B), new Color(0x9A9A9A), new Color(0x555555), new Color(0xC62828));
  private static final List<Color> ALL = Stream.concat(OURS.stream(), OTHERS.stream()).toList();

  /** Tell apart curves of the same colour. */
  private static final Marker[] MARKERS = {
    SeriesMarkers.CIRCLE, SeriesMarkers.SQUARE, SeriesMarkers.DIAMOND, SeriesMarkers.CROSS
  };

  private static final List<String> SIZES = List.of("B", "KiB", "MiB", "GiB", "TiB");
  private static final List<String> NO_UNIT = List.of("");
  private static final List<String> TIMES = List.of("ns", "µs", "ms", "s", "1000 s");
  private static final List<String> RATES = List.of("B/s", "kB/s", "MB/s", "GB/s", "TB/s");

  /**
   * What the curves are over, and what the lower picture shows.
   *
   * @param label of an exponent of the axis across
   * @param unit of the values of the lower picture, in the first of {@code units}
   * @param colors of curves that are no peer's
   */
  private record Axes(
      String across,
      Function<Double, String> label,
      String below,
      double unit,
      List<String> units,
      List<Color> colors) {}

  private static final Axes BY_SIZE =
      new Axes("size", ResultPlot::size, "bus bandwidth", 1e9, RATES, OURS);
  private static final Axes BY_RANKS =
      new Axes("ranks", ResultPlot::number, "CPU time of each rank", 1e3, TIMES, ALL);

  /**
   * One point of a curve.
   *
   * @param at the size in bytes, or the number of ranks
   * @param below the bus bandwidth in GB/s, or the processor time in microseconds
   */
  record Point(long at, double micros, double below) {}

  private final String title;
  private final Axes axes;
  private final Map<String, List<Point>> curves = new LinkedHashMap<>();
  private final Set<String> peers = new HashSet<>();

  ResultPlot(String title) {
    this(title, BY_SIZE);
  }

  private ResultPlot(String title, Axes axes) {
    this.title = title;
    this.axes = axes;
  }

  /** Returns a plot of times and processor times by number of ranks. */
  static ResultPlot byRanks(String title) {
    return new ResultPlot(title, BY_RANKS);
  }

  static ResultPlot of(Report report) {
    ResultPlot plot =
        new ResultPlot(
            "%s, %s ranks as %s"
                .formatted(
                    report.circumstance("operation"),
                    report.circumstance("ranks"),
                    report.circumstance("place")));
    for (Measurement each : report.results()) {
      plot.add(each.implementation(), each.bytes(), each.medianMicros(), each.busBandwidth());
    }
    return plot;
  }

  void add(String curve, long at, double micros, double below) {
    curves
        .computeIfAbsent(curve, name -> new ArrayList<>())
        .add(new Point(Math.max(1, at), micros, below));
  }

  /** Draws a curve thinner and in other colours than ours. */
  void isPeer(String curve) {
    peers.add(curve);
  }

  /** Returns whether a curve has a point at a size. */
  boolean has(String curve, long bytes) {
    return curves.getOrDefault(curve, List.of()).stream()
        .anyMatch(point -> point.at() == Math.max(1, bytes));
  }

  /** Writes a PNG of both. Needs no screen. */
  void write(Path file) throws IOException {
    BufferedImage picture = new BufferedImage(WIDTH, 2 * HEIGHT, BufferedImage.TYPE_INT_RGB);
    picture.getGraphics().drawImage(times(), 0, 0, null);
    picture.getGraphics().drawImage(below(), 0, HEIGHT, null);
    ImageIO.write(picture, "png", file.toFile());
  }

  /** Writes a PNG of the times only. Needs no screen. */
  void writeTimes(Path file) throws IOException {
    ImageIO.write(times(), "png", file.toFile());
  }

  private BufferedImage times() {
    return BitmapEncoder.getBufferedImage(timesChart());
  }

  XYChart timesChart() {
    return chart(title, "median time", point -> point.micros() * 1e3, TIMES);
  }

  private BufferedImage below() {
    return BitmapEncoder.getBufferedImage(
        chart("", axes.below(), point -> point.below() * axes.unit(), axes.units()));
  }

  /** Returns a power of two with its unit: of 16, 64 KiB. */
  static String size(double exponent) {
    return label(2, exponent, 10, SIZES);
  }

  /** Returns a power of two: of 5, 32. */
  static String number(double exponent) {
    return label(2, exponent, 10, NO_UNIT).strip();
  }

  /** Returns a power of ten with its unit: of 5, 100 of the second unit. */
  static String decimal(double exponent, List<String> units) {
    return label(10, exponent, 3, units);
  }

  private static String label(int base, double exponent, int exponentOfUnit, List<String> units) {
    int unit = (int) Math.floor(exponent / exponentOfUnit + 1e-9);
    unit = Math.max(0, Math.min(units.size() - 1, unit));
    double value = Math.pow(base, exponent - (double) unit * exponentOfUnit);
    String number =
        Math.abs(value - Math.rint(value)) < 1e-6
            ? String.format(Locale.ROOT, "%.0f", value)
            : String.format(Locale.ROOT, "%.1f", value);
    return number + " " + units.get(unit);
  }

  private static double log2(double value) {
    return Math.log(value) / Math.log(2);
  }

  /**
   * Returns a chart of exponents, as XChart has labels of one's own on linear axes only.
   *
   * @param units of the value, each a thousand of the one before
   */
  private XYChart chart(
      String heading, String axis, ToDoubleFunction<Point> value, List<String> units) {
    System.setProperty("java.awt.headless", "true");
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(heading)
            .xAxisTitle(axes.across())
            .yAxisTitle(axis)
            .build();
    XYStyler style = chart.getStyler();
    style.setxAxisTickLabelsFormattingFunction(axes.label());
    style.setyAxisTickLabelsFormattingFunction(exponent -> decimal(exponent, units));
    style.setLegendPosition(LegendPosition.OutsideE);
    style.setLegendBorderColor(Color.WHITE);
    style.setChartBackgroundColor(Color.WHITE);
    int ours = 0;
    int others = 0;
    for (Map.Entry<String, List<Point>> curve : curves.entrySet()) {
      boolean peer = peers.contains(curve.getKey());
      int number = peer ? others++ : ours++;
      List<Color> colors = peer ? OTHERS : axes.colors();
      Color color = colors.get(number % colors.size());
      List<Point> points =
          curve.getValue().stream().filter(point -> value.applyAsDouble(point) > 0).toList();
      double[] values = points.stream().mapToDouble(value).toArray();
      if (values.length > 0) {
        chart
            .addSeries(
                curve.getKey(),
                points.stream().mapToDouble(point -> log2((double) point.at())).toArray(),
                Arrays.stream(values).map(Math::log10).toArray())
            .setMarker(MARKERS[number / colors.size() % MARKERS.length])
            .setMarkerColor(color)
            .setLineColor(color)
            .setLineWidth(peer ? 1.5f : 3f);
      }
    }
    return chart;
  }
}
