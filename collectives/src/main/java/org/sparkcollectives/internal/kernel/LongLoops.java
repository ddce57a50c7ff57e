package org.sparkcollectives.internal.kernel;

import org.sparkcollectives.ReduceOp;

/** Loops over {@code long[]}; sums and products wrap. */
final class LongLoops {

  private LongLoops() {}

  static ArrayReduction<long[]> reduction(ReduceOp.Kind kind) {
    return switch (kind) {
      case SUM -> LongLoops::add;
      case PRODUCT -> LongLoops::multiply;
      case MIN -> LongLoops::minimum;
      case MAX -> LongLoops::maximum;
      case BAND -> LongLoops::and;
      case BOR -> LongLoops::or;
      case BXOR -> LongLoops::xor;
      case AVG, PREMUL_SUM -> throw new IllegalArgumentException(kind + " of integers");
    };
  }

  private static void add(long[] accumulator, long[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] += source[i];
    }
  }

  private static void multiply(long[] accumulator, long[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] *= source[i];
    }
  }

  private static void minimum(long[] accumulator, long[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = Math.min(accumulator[i], source[i]);
    }
  }

  private static void maximum(long[] accumulator, long[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = Math.max(accumulator[i], source[i]);
    }
  }

  private static void and(long[] accumulator, long[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] &= source[i];
    }
  }

  private static void or(long[] accumulator, long[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] |= source[i];
    }
  }

  private static void xor(long[] accumulator, long[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] ^= source[i];
    }
  }
}
