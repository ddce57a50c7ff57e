package org.sparkcollectives.internal.kernel;

import org.sparkcollectives.ReduceOp;

/** Loops over {@code int[]}; sums and products wrap. */
final class IntLoops {

  private IntLoops() {}

  static ArrayReduction<int[]> reduction(ReduceOp.Kind kind) {
    return switch (kind) {
      case SUM -> IntLoops::add;
      case PRODUCT -> IntLoops::multiply;
      case MIN -> IntLoops::minimum;
      case MAX -> IntLoops::maximum;
      case BAND -> IntLoops::and;
      case BOR -> IntLoops::or;
      case BXOR -> IntLoops::xor;
      case AVG, PREMUL_SUM -> throw new IllegalArgumentException(kind + " of integers");
    };
  }

  private static void add(int[] accumulator, int[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] += source[i];
    }
  }

  private static void multiply(int[] accumulator, int[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] *= source[i];
    }
  }

  private static void minimum(int[] accumulator, int[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = Math.min(accumulator[i], source[i]);
    }
  }

  private static void maximum(int[] accumulator, int[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = Math.max(accumulator[i], source[i]);
    }
  }

  private static void and(int[] accumulator, int[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] &= source[i];
    }
  }

  private static void or(int[] accumulator, int[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] |= source[i];
    }
  }

  private static void xor(int[] accumulator, int[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] ^= source[i];
    }
  }
}
