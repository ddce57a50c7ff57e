package org.sparkcollectives.examples.digits;

import java.io.Serializable;

/** One image of a handwritten digit: 64 pixels from 0 to 1, and which digit it is. */
final class Digit implements Serializable {

  static final int PIXELS = 64;
  static final int CLASSES = 10;

  private static final long serialVersionUID = 1;
  private static final double DARKEST = 16;

  private final double[] pixels;
  private final int label;

  private Digit(double[] pixels, int label) {
    this.pixels = pixels;
    this.label = label;
  }

  /** Reads a line of the data file. */
  static Digit parse(String line) {
    String[] fields = line.split(",", -1);
    if (fields.length != PIXELS + 1) {
      throw new IllegalArgumentException(
          "A line must hold "
              + PIXELS
              + " pixels and a label, but holds "
              + fields.length
              + " numbers: "
              + line);
    }
    double[] pixels = new double[PIXELS];
    for (int i = 0; i < PIXELS; i++) {
      pixels[i] = number(fields[i], (int) DARKEST, line) / DARKEST;
    }
    return new Digit(pixels, number(fields[PIXELS], CLASSES - 1, line));
  }

  private static int number(String field, int largest, String line) {
    int number = -1;
    try {
      number = Integer.parseInt(field.trim());
    } catch (NumberFormatException e) {
      // Refused below, as a number out of range is.
    }
    if (number < 0 || number > largest) {
      throw new IllegalArgumentException(
          "A whole number from 0 to " + largest + " is expected, not '" + field + "', in: " + line);
    }
    return number;
  }

  double pixel(int i) {
    return pixels[i];
  }

  int label() {
    return label;
  }
}
