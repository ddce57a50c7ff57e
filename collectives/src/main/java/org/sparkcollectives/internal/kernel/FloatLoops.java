package org.sparkcollectives.internal.kernel;

import org.sparkcollectives.ReduceOp;

/** Loops over {@code float[]}: real numbers, or the parts of complex ones. */
final class FloatLoops {

  private FloatLoops() {}

  static ArrayReduction<float[]> reduction(ReduceOp.Kind kind) {
    return switch (kind) {
      case SUM, AVG, PREMUL_SUM -> FloatLoops::add;
      case PRODUCT -> FloatLoops::multiply;
      case MIN -> FloatLoops::minimum;
      case MAX -> FloatLoops::maximum;
      case BAND, BOR, BXOR -> throw new IllegalArgumentException(kind + " of float");
    };
  }

  private static void add(float[] accumulator, float[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] += source[i];
    }
  }

  private static void multiply(float[] accumulator, float[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] *= source[i];
    }
  }

  private static void minimum(float[] accumulator, float[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = Math.min(accumulator[i], source[i]);
    }
  }

  private static void maximum(float[] accumulator, float[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = Math.max(accumulator[i], source[i]);
    }
  }

  static void multiply(float[] array, int from, int to, double factor) {
    float rounded = (float) factor;
    for (int i = from; i < to; i++) {
      array[i] *= rounded;
    }
  }

  static void divide(float[] array, int from, int to, double divisor) {
    float rounded = (float) divisor;
    for (int i = from; i < to; i++) {
      array[i] /= rounded;
    }
  }
}
