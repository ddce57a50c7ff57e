package org.sparkcollectives.internal.kernel;

import org.sparkcollectives.ReduceOp;

/** Loops over {@code double[]}: real numbers, or the parts of complex ones. */
final class DoubleLoops {

  private DoubleLoops() {}

  static ArrayReduction<double[]> reduction(ReduceOp.Kind kind) {
    return switch (kind) {
      case SUM, AVG, PREMUL_SUM -> DoubleLoops::add;
      case PRODUCT -> DoubleLoops::multiply;
      case MIN -> DoubleLoops::minimum;
      case MAX -> DoubleLoops::maximum;
      case BAND, BOR, BXOR -> throw new IllegalArgumentException(kind + " of double");
    };
  }

  private static void add(double[] accumulator, double[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] += source[i];
    }
  }

  private static void multiply(double[] accumulator, double[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] *= source[i];
    }
  }

  private static void minimum(double[] accumulator, double[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = Math.min(accumulator[i], source[i]);
    }
  }

  private static void maximum(double[] accumulator, double[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = Math.max(accumulator[i], source[i]);
    }
  }

  static void multiply(double[] array, int from, int to, double factor) {
    for (int i = from; i < to; i++) {
      array[i] *= factor;
    }
  }

  static void divide(double[] array, int from, int to, double divisor) {
    for (int i = from; i < to; i++) {
      array[i] /= divisor;
    }
  }
}
