package org.sparkcollectives.zero;

/** Checks the numbers of options. */
final class Numbers {

  private Numbers() {}

  static void requireNotNegative(String name, double value) {
    if (!(value >= 0 && value < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("The " + name + " must be 0 or more, not " + value);
    }
  }

  static void requireShare(String name, double value) {
    if (!(value >= 0 && value < 1)) {
      throw new IllegalArgumentException(
          "The factor " + name + " must be from 0 to below 1, not " + value);
    }
  }
}
