package org.sparkcollectives.ddp;

import java.util.Arrays;

/**
 * Makes columns orthogonal to each other and of length 1, by Gram and Schmidt's method, twice each.
 * Columns lie one after the other. Sums are made in float64.
 */
final class Orthonormal {

  /** A column that keeps no more of its length depends on those before it: the rest is rounding. */
  private static final double DEPENDENT = 1e-6;

  private Orthonormal() {}

  /**
   * Changes columns in place. One that depends on those before it, or is 0, becomes 0. One with a
   * NaN or an infinity becomes NaN, and so do those after it.
   *
   * @param at where the first column begins
   * @param epsilon what is added to the norm that a column is divided by
   */
  static void make(float[] array, int at, int length, int columns, double epsilon) {
    for (int column = 0; column < columns; column++) {
      int own = at + column * length;
      double before = norm(array, own, length);
      for (int pass = 0; pass < 2; pass++) {
        for (int other = 0; other < column; other++) {
          subtractProjection(array, own, at + other * length, length);
        }
      }
      double after = norm(array, own, length);
      if (!Double.isFinite(after)) {
        Arrays.fill(array, own, own + length, Float.NaN);
      } else if (after <= DEPENDENT * before) {
        Arrays.fill(array, own, own + length, 0);
      } else {
        divide(array, own, length, after + epsilon);
      }
    }
  }

  /** Returns whether a column is all zeros. */
  static boolean isZero(float[] array, int at, int length) {
    for (int i = at; i < at + length; i++) {
      if (array[i] != 0) {
        return false;
      }
    }
    return true;
  }

  private static double norm(float[] array, int at, int length) {
    double sum = 0;
    for (int i = at; i < at + length; i++) {
      sum += (double) array[i] * array[i];
    }
    return Math.sqrt(sum);
  }

  private static void subtractProjection(float[] array, int own, int other, int length) {
    double dot = 0;
    for (int i = 0; i < length; i++) {
      dot += (double) array[own + i] * array[other + i];
    }
    for (int i = 0; i < length; i++) {
      array[own + i] -= (float) (dot * array[other + i]);
    }
  }

  private static void divide(float[] array, int at, int length, double divisor) {
    for (int i = at; i < at + length; i++) {
      array[i] = (float) (array[i] / divisor);
    }
  }
}
