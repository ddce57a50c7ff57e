package org.sparkcollectives.examples.benchmark;

import java.awt.Color;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Curves by size, both axes logarithmic: the time, and below it the bus bandwidth. */
final class ResultPlot {

  private static final int WIDTH = 900;
  private static final int HEIGHT = 450;

  /** One point of a curve. */
  record Point(long bytes, double micros, double bandwidth) {}

  private final String title;
  private final Map<String, List<Point>> curves = new LinkedHashMap<>();

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

  /** Returns whether a curve has a point at a size. */
  boolean has(String curve, long bytes) {
    return curves.getOrDefault(curve, List.of()).stream()
        .anyMatch(point -> point.bytes() == Math.max(1, bytes));
  }

  /** Writes a PNG. Needs no screen. */
  void write(Path file) throws IOException {
    System.setProperty("java.awt.headless", "true");
    XYChart times = chart(title, "median time (us)");
    XYChart bandwidths = chart("", "bus bandwidth (GB/s)");
    curves.forEach(
        (name, points) -> {
          double[] bytes = points.stream().mapToDouble(Point::bytes).toArray();
          add(times, name, bytes, points.stream().mapToDouble(Point::micros).toArray());
          double[] speeds = points.stream().mapToDouble(Point::bandwidth).toArray();
          if (speeds[0] > 0) {
            add(bandwidths, name, bytes, speeds);
          }
        });
    BufferedImage picture = new BufferedImage(WIDTH, 2 * HEIGHT, BufferedImage.TYPE_INT_RGB);
    picture.getGraphics().drawImage(BitmapEncoder.getBufferedImage(times), 0, 0, null);
    picture.getGraphics().drawImage(BitmapEncoder.getBufferedImage(bandwidths), 0, HEIGHT, null);
    ImageIO.write(picture, "png", file.toFile());
  }

  private static void add(XYChart chart, String name, double[] x, double[] y) {
    chart.addSeries(name, x, y).setMarker(SeriesMarkers.CIRCLE);
  }

  private static XYChart chart(String title, String axis) {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle("bytes")
            .yAxisTitle(axis)
            .build();
    chart.getStyler().setXAxisLogarithmic(true);
    chart.getStyler().setYAxisLogarithmic(true);
    chart.getStyler().setLegendPosition(LegendPosition.OutsideE);
    chart.getStyler().setChartBackgroundColor(Color.WHITE);
    return chart;
  }
}
