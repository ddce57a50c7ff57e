package org.sparkcollectives.examples.digits;

import java.io.Serializable;
import java.util.List;

/** How a line of a data file is read. */
interface LineFormat extends Serializable {

  /** What a file may be; {@code AUTO} is told from its first lines. */
  enum Kind {
    AUTO,
    CSV,
    LIBSVM
  }

  /** Whether a line holds a sample; headers, comments and empty lines do not. */
  boolean isSample(String line);

  /**
   * Reads a line.
   *
   * @throws IllegalArgumentException if it is not of this format; quotes it
   */
  LabeledValues parse(String line);

  /**
   * The format of a file that begins with {@code firstLines}.
   *
   * @param labelColumn see {@link CsvFormat#of}; of no meaning for LIBSVM
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

  /** The number that {@code text} is; refuses what is none, or infinite. */
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

  /** A line as it is shown in an error. */
  static String shortened(String line) {
    return line.length() <= 200 ? line : line.substring(0, 200) + " ...";
  }
}
