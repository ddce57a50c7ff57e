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
import java.util.function.ToDoubleFunction;
import javax.imageio.ImageIO;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Curves by size, both axes logarithmic: the time, and below it the bus bandwidth. */
final class ResultPlot {

  private static final int WIDTH = 900;
  private static final int HEIGHT = 450;
  private static final Color[] OURS = {
    new Color(0x08306B), new Color(0x2171B5), new Color(0x4BA3DB), new Color(0x9ECAE1)
  };
  private static final Color[] OTHERS = {
    new Color(0xE6862B), new Color(0x9A9A9A), new Color(0x555555), new Color(0xC62828)
  };
  private static final List<String> SIZES = List.of("B", "KiB", "MiB", "GiB", "TiB");
  private static final List<String> TIMES = List.of("ns", "µs", "ms", "s", "1000 s");
  private static final List<String> RATES = List.of("B/s", "kB/s", "MB/s", "GB/s", "TB/s");

  /** One point of a curve. */
  record Point(long bytes, double micros, double bandwidth) {}

  private final String title;
  private final Map<String, List<Point>> curves = new LinkedHashMap<>();
  private final Set<String> peers = new HashSet<>();

  ResultPlot(String title) {
    this.title = title;
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

  void add(String curve, long bytes, double micros, double bandwidth) {
    curves
        .computeIfAbsent(curve, name -> new ArrayList<>())
        .add(new Point(Math.max(1, bytes), micros, bandwidth));
  }

  /** Draws a curve thinner and in other colours than ours. */
  void isPeer(String curve) {
    peers.add(curve);
  }

  /** Returns whether a curve has a point at a size. */
  boolean has(String curve, long bytes) {
    return curves.getOrDefault(curve, List.of()).stream()
        .anyMatch(point -> point.bytes() == Math.max(1, bytes));
  }

  /** Writes a PNG of both. Needs no screen. */
  void write(Path file) throws IOException {
    BufferedImage picture = new BufferedImage(WIDTH, 2 * HEIGHT, BufferedImage.TYPE_INT_RGB);
    picture.getGraphics().drawImage(times(), 0, 0, null);
    picture.getGraphics().drawImage(bandwidths(), 0, HEIGHT, null);
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

  private BufferedImage bandwidths() {
    return BitmapEncoder.getBufferedImage(
        chart("", "bus bandwidth", point -> point.bandwidth() * 1e9, RATES));
  }

  /** Returns a power of two with its unit: of 16, 64 KiB. */
  static String size(double exponent) {
    return label(2, exponent, 10, SIZES);
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
            .xAxisTitle("size")
            .yAxisTitle(axis)
            .build();
    XYStyler style = chart.getStyler();
    style.setxAxisTickLabelsFormattingFunction(ResultPlot::size);
    style.setyAxisTickLabelsFormattingFunction(exponent -> decimal(exponent, units));
    style.setLegendPosition(LegendPosition.OutsideE);
    style.setLegendBorderColor(Color.WHITE);
    style.setChartBackgroundColor(Color.WHITE);
    int ours = 0;
    int others = 0;
    for (Map.Entry<String, List<Point>> curve : curves.entrySet()) {
      boolean peer = peers.contains(curve.getKey());
      Color color = peer ? OTHERS[others++ % OTHERS.length] : OURS[ours++ % OURS.length];
      List<Point> points = curve.getValue();
      double[] values = points.stream().mapToDouble(value).toArray();
      if (values[0] > 0) {
        chart
            .addSeries(
                curve.getKey(),
                points.stream().mapToDouble(point -> log2((double) point.bytes())).toArray(),
                Arrays.stream(values).map(Math::log10).toArray())
            .setMarker(SeriesMarkers.CIRCLE)
            .setMarkerColor(color)
            .setLineColor(color)
            .setLineWidth(peer ? 1.5f : 3f);
      }
    }
    return chart;
  }
}
