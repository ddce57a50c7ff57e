package org.sparkcollectives.internal.kernel;

import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.spi.tensor.HalfFormat;

/**
 * Loops over 16-bit floating-point numbers that find the lesser or the greater of two. The result
 * is one of the two, so that it can be kept in 16 bits: nothing is ever rounded.
 */
final class HalfExtremes {

  /** The bits of a number without its sign. */
  private static final int MAGNITUDE = 0x7fff;

  private HalfExtremes() {}

  /** Returns whether a reduction is one of these. */
  static boolean include(ReduceOp.Kind kind) {
    return kind == ReduceOp.Kind.MIN || kind == ReduceOp.Kind.MAX;
  }

  static ArrayReduction<short[]> reduction(HalfFormat format, ReduceOp.Kind kind) {
    int infinity = format.infinity();
    return switch (kind) {
      case MIN ->
          (accumulator, source, from, to) -> minimum(accumulator, source, from, to, infinity);
      case MAX ->
          (accumulator, source, from, to) -> maximum(accumulator, source, from, to, infinity);
      default -> throw new IllegalArgumentException(kind + " is no extreme");
    };
  }

  private static void minimum(short[] accumulator, short[] source, int from, int to, int infinity) {
    for (int i = from; i < to; i++) {
      int a = accumulator[i];
      int b = source[i];
      // A NaN precedes all numbers.
      boolean first = isNaN(a, infinity) || (!isNaN(b, infinity) && order(a) <= order(b));
      accumulator[i] = (short) (first ? a : b);
    }
  }

  private static void maximum(short[] accumulator, short[] source, int from, int to, int infinity) {
    for (int i = from; i < to; i++) {
      int a = accumulator[i];
      int b = source[i];
      boolean first = isNaN(a, infinity) || (!isNaN(b, infinity) && order(a) >= order(b));
      accumulator[i] = (short) (first ? a : b);
    }
  }

  private static boolean isNaN(int bits, int infinity) {
    return (bits & MAGNITUDE) > infinity;
  }

  /** Maps the bits of a number to an integer, so that integers have the order of the numbers. */
  private static int order(int bits) {
    return bits < 0 ? ~(bits & MAGNITUDE) : bits;
  }
}
