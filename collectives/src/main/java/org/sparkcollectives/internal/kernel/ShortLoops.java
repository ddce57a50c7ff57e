package org.sparkcollectives.internal.kernel;

import org.sparkcollectives.ReduceOp;

/** Loops over {@code short[]} of signed integers; sums and products wrap. */
final class ShortLoops {

  private ShortLoops() {}

  static ArrayReduction<short[]> reduction(ReduceOp.Kind kind) {
    return switch (kind) {
      case SUM -> ShortLoops::add;
      case PRODUCT -> ShortLoops::multiply;
      case MIN -> ShortLoops::minimum;
      case MAX -> ShortLoops::maximum;
      case BAND -> ShortLoops::and;
      case BOR -> ShortLoops::or;
      case BXOR -> ShortLoops::xor;
      case AVG, PREMUL_SUM -> throw new IllegalArgumentException(kind + " of integers");
    };
  }

  private static void add(short[] accumulator, short[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] += source[i];
    }
  }

  private static void multiply(short[] accumulator, short[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] *= source[i];
    }
  }

  private static void minimum(short[] accumulator, short[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = (short) (Math.min(accumulator[i], source[i]));
    }
  }

  private static void maximum(short[] accumulator, short[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = (short) (Math.max(accumulator[i], source[i]));
    }
  }

  private static void and(short[] accumulator, short[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] &= source[i];
    }
  }

  private static void or(short[] accumulator, short[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] |= source[i];
    }
  }

  private static void xor(short[] accumulator, short[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] ^= source[i];
    }
  }
}
