package org.sparkcollectives.examples.benchmark;

import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;

/**
 * The numbers that each rank puts into its tensors for the check, and the results of their
 * reduction.
 *
 * <p>They are small whole numbers, so every type represents them exactly, and the order of
 * additions does not matter. They depend on rank and place, so mixed-up elements are detected. A
 * complex element has two.
 */
final class TestData {

  /**
   * The most ranks that contribute a 2 to a product: with more, it would overflow in types in which
   * sums of such numbers do not.
   */
  private static final int RANKS_WITH_TWOS = 24;

  private final DType dtype;
  private final ReduceOp.Kind reduction;
  private final int ranks;

  TestData(Plan plan, int ranks) {
    this.dtype = plan.dtype();
    this.reduction = plan.reduction();
    this.ranks = ranks;
  }

  /** Returns the number that {@code rank} contributes at a place. */
  double value(int rank, long place) {
    long bits = (((rank + 1) * 0x9E3779B97F4A7C15L + place) * 0xD1342543DE82EF95L) >>> 60;
    if (dtype == DType.BOOL) {
      return bits & 1;
    }
    if (reduction == ReduceOp.Kind.PRODUCT) {
      return rank < RANKS_WITH_TWOS ? 1 + (bits & 1) : 1;
    }
    return bits;
  }

  /** Returns the reduction of all ranks' numbers at a place. */
  double reduced(long place) {
    double result = factor() * value(0, place);
    for (int rank = 1; rank < ranks; rank++) {
      result = combine(result, factor() * value(rank, place));
    }
    return reduction == ReduceOp.Kind.AVG ? result / ranks : result;
  }

  private double factor() {
    return reduction == ReduceOp.Kind.PREMUL_SUM ? 2 : 1;
  }

  private double combine(double one, double other) {
    boolean truth = dtype == DType.BOOL;
    return switch (reduction) {
      case SUM, AVG, PREMUL_SUM -> truth ? Math.max(one, other) : one + other;
      case PRODUCT -> one * other;
      case MIN -> Math.min(one, other);
      case MAX -> Math.max(one, other);
      case BAND -> (long) one & (long) other;
      case BOR -> (long) one | (long) other;
      case BXOR -> (long) one ^ (long) other;
    };
  }
}
