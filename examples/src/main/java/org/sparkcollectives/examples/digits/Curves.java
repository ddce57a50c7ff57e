package org.sparkcollectives.examples.digits;

import java.awt.Color;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.Styler.YAxisPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** The course of a training run as a picture: loss and accuracy by epoch. */
final class Curves {

  private Curves() {}

  /** Writes a PNG. Needs no screen. */
  static void draw(String title, List<Epoch> epochs, Path file) throws IOException {
    System.setProperty("java.awt.headless", "true");
    XYChart chart =
        new XYChartBuilder()
            .width(900)
            .height(500)
            .title(title)
            .xAxisTitle("epoch")
            .yAxisTitle("training loss")
            .build();
    chart.setYAxisGroupTitle(1, "test accuracy");
    chart.getStyler().setLegendPosition(LegendPosition.OutsideS);
    chart.getStyler().setYAxisGroupPosition(1, YAxisPosition.Right);
    chart.getStyler().setYAxisMin(0, 0.0);
    chart.getStyler().setXAxisMaxLabelCount(20);
    chart.getStyler().setChartBackgroundColor(Color.WHITE);
    add(chart, "training loss", epochs, Epoch::loss, 0);
    add(chart, "test accuracy", epochs, Epoch::accuracy, 1);
    try (OutputStream out = Files.newOutputStream(file)) {
      BitmapEncoder.saveBitmap(chart, out, BitmapFormat.PNG);
    }
  }

  private static void add(
      XYChart chart, String name, List<Epoch> epochs, ToDoubleFunction<Epoch> value, int axis) {
    XYSeries series =
        chart.addSeries(
            name,
            epochs.stream().mapToDouble(Epoch::number).toArray(),
            epochs.stream().mapToDouble(value).toArray());
    series.setMarker(SeriesMarkers.NONE);
    series.setYAxisGroup(axis);
  }
}
