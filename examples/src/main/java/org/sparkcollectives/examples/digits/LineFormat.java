package org.sparkcollectives.examples.digits;

import java.io.Serializable;
import java.util.List;

/** Reads the lines of a data file. */
interface LineFormat extends Serializable {

  /** The format of a file; {@code AUTO} is determined from its first lines. */
  enum Kind {
    AUTO,
    CSV,
    LIBSVM
  }

  /** Returns whether a line holds a sample; headers, comments and empty lines do not. */
  boolean isSample(String line);

  /**
   * Reads a line.
   *
   * @throws IllegalArgumentException if it does not have this format; quotes it
   */
  LabeledValues parse(String line);

  /**
   * Returns the format of a file that begins with {@code firstLines}.
   *
   * @param labelColumn see {@link CsvFormat#of}; ignored for LIBSVM
   * @throws IllegalArgumentException if the lines hold no sample, or have no such column
   */
  static LineFormat of(Kind kind, List<String> firstLines, String labelColumn) {
    List<String> filled = firstLines.stream().filter(line -> !line.isBlank()).toList();
    if (filled.isEmpty()) {
      throw new IllegalArgumentException("There are no lines");
    }
    boolean libsvm =
        kind == Kind.LIBSVM || (kind == Kind.AUTO && filled.stream().anyMatch(LibsvmFormat::fits));
    return libsvm ? new LibsvmFormat() : CsvFormat.of(filled.get(0), labelColumn);
  }

  /** Parses a number. Throws if {@code text} is none, or is infinite. */
  static double number(String text, String line) {
    double number = Double.NaN;
    try {
      number = Double.parseDouble(text.strip());
    } catch (NumberFormatException e) {
      // Refused below, as "NaN" is.
    }
    if (!Double.isFinite(number)) {
      throw new IllegalArgumentException(
          "A number is expected, not '" + text + "', in: " + shortened(line));
    }
    return number;
  }

  /** Returns a line as errors show it. */
  static String shortened(String line) {
    return line.length() <= 200 ? line : line.substring(0, 200) + " ...";
  }
}
