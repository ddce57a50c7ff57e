package org.sparkcollectives.lightgbm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** The digits of the examples: 64 pixels, and the class. */
final class Digits {

  private static final int PIXELS = 64;

  private static final List<double[]> ALL = read();

  private Digits() {}

  private static List<double[]> read() {
    Path file = Path.of(System.getProperty("collectives.digits"));
    try (var lines = Files.lines(file)) {
      return lines
          .map(line -> Arrays.stream(line.split(",")).mapToDouble(Double::parseDouble).toArray())
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns every row whose number leaves {@code rank} when divided by {@code ranks}. */
  static TrainingRows of(int rank, int ranks) {
    TrainingRows rows = new TrainingRows(PIXELS);
    for (int i = rank; i < ALL.size(); i += ranks) {
      double[] row = ALL.get(i);
      rows.add(Arrays.copyOf(row, PIXELS), row[PIXELS]);
    }
    return rows;
  }
}
