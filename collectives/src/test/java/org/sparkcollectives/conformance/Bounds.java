package org.sparkcollectives.conformance;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.sparkcollectives.DType;

/**
 * The bounds of reductions of floating-point numbers, component by component of complex ones.
 *
 * <p>Minima and maxima are one of their terms, and exact. A sum or product depends on the order,
 * which is not specified. In whichever order n numbers are added, the sum is off by at most n-1
 * roundings of the sum of their magnitudes, and a product by n-1 roundings of itself. An average is
 * rounded once more. The bounds are computed in float64, in which those of float32 and of half
 * precision are exact enough; for float64 itself the model's own roundings count as well.
 *
 * <p>Half-precision numbers are added up in float32 and rounded once, so their bounds are those of
 * float32, rounded once. Sums that were rounded at every step would miss them.
 */
final class Bounds {

  /** The half of the distance from 1 to the next number. */
  private static final double FLOAT32_ROUNDING = 0x1p-24;

  private static final double FLOAT64_ROUNDING = 0x1p-53;

  /**
   * The factor for k roundings, each of which may be of a number that the others have made a little
   * larger.
   */
  private static final double COMPOUND = 1.001;

  private Bounds() {}

  static Expected of(DType dtype, Reduction reduction, List<ByteBuffer> terms) {
    double[] values = Contributions.numbers(dtype, terms.get(0));
    double[] magnitudes = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      magnitudes[i] = Math.abs(values[i]);
    }
    for (ByteBuffer term : terms.subList(1, terms.size())) {
      combine(reduction, values, magnitudes, Contributions.numbers(dtype, term));
    }
    boolean wide = dtype == DType.FLOAT64 || dtype == DType.COMPLEX128;
    double rounding = COMPOUND * (wide ? 2 * FLOAT64_ROUNDING : FLOAT32_ROUNDING);
    int n = terms.size();
    boolean average = reduction == Reduction.AVG;
    boolean chosen = n == 1 || reduction == Reduction.MIN || reduction == Reduction.MAX;
    ByteBuffer low = bytes(terms.get(0).remaining());
    ByteBuffer high = chosen ? low : bytes(low.capacity());
    for (int i = 0; i < values.length; i++) {
      double value = average ? values[i] / n : values[i];
      // An average has one rounding more than a sum, and an n-th of its magnitude.
      double slack = chosen ? 0 : rounding * (average ? magnitudes[i] : (n - 1) * magnitudes[i]);
      boolean exact = slack == 0 || !Double.isFinite(value);
      Contributions.put(dtype, low, i, exact ? value : value - slack);
      if (!chosen) {
        Contributions.put(dtype, high, i, exact ? value : value + slack);
      }
    }
    return chosen ? Expected.exactly(dtype, low) : Expected.between(dtype, low, high);
  }

  private static void combine(
      Reduction reduction, double[] values, double[] magnitudes, double[] next) {
    for (int i = 0; i < values.length; i++) {
      switch (reduction) {
        case SUM, AVG, PREMUL_SUM -> {
          values[i] += next[i];
          magnitudes[i] += Math.abs(next[i]);
        }
        case PRODUCT -> {
          values[i] *= next[i];
          magnitudes[i] = Math.abs(values[i]);
        }
        case MIN -> values[i] = Math.min(values[i], next[i]);
        case MAX -> values[i] = Math.max(values[i], next[i]);
        case BAND, BOR, BXOR ->
            throw new IllegalArgumentException(reduction + " of floating-point numbers");
      }
    }
  }

  private static ByteBuffer bytes(int capacity) {
    return ByteBuffer.allocate(capacity).order(ByteOrder.nativeOrder());
  }
}
