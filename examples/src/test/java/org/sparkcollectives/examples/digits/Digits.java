package org.sparkcollectives.examples.digits;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** The images of the example, read without Spark; pixels from 0 to 1. */
final class Digits {

  private Digits() {}

  static List<Sample> read() throws IOException {
    List<String> lines = Files.readAllLines(Path.of("data/digits.csv"));
    LineFormat format = CsvFormat.of(lines.get(0), "-1");
    return lines.stream()
        .map(format::parse)
        .map(
            line ->
                new Sample(
                    Arrays.stream(line.values()).map(pixel -> pixel / 16).toArray(),
                    Integer.parseInt(line.label())))
        .toList();
  }
}
