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
      pixels[i] = Double.parseDouble(fields[i]) / DARKEST;
    }
    return new Digit(pixels, (int) Double.parseDouble(fields[PIXELS]));
  }

  double pixel(int i) {
    return pixels[i];
  }

  int label() {
    return label;
  }
}
