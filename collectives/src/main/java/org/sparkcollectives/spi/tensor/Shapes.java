package org.sparkcollectives.spi.tensor;

import java.util.Arrays;

/** Computes with shapes. */
final class Shapes {

  private Shapes() {}

  /**
   * Returns the number of elements of a shape: the product of its extents, 1 where there are none.
   *
   * @throws IllegalArgumentException if an extent is negative or the product exceeds a {@code long}
   */
  static long count(long[] shape) {
    if (shape == null) {
      throw new IllegalArgumentException("The shape is null");
    }
    boolean empty = false;
    for (long extent : shape) {
      if (extent < 0) {
        throw new IllegalArgumentException(
            "The shape " + Arrays.toString(shape) + " has a negative extent");
      }
      empty |= extent == 0;
    }
    if (empty) {
      return 0;
    }
    long count = 1;
    for (long extent : shape) {
      if (count > Long.MAX_VALUE / extent) {
        throw new IllegalArgumentException(
            "The shape " + Arrays.toString(shape) + " has more than 2^63 - 1 elements");
      }
      count *= extent;
    }
    return count;
  }
}
