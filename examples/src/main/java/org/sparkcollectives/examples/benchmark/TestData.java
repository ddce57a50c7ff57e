package org.sparkcollectives.examples.benchmark;

import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;

/**
 * What each rank puts into its tensors for the check, and what a reduction must make of it.
 *
 * <p>Small whole numbers, so that every type has them exactly and no order of additions matters;
 * they depend on rank and place, so that what was mixed up is noticed. A complex element has two.
 */
final class TestData {

  /** More twos than this would overflow types that sums of the same numbers do not. */
  private static final int RANKS_WITH_TWOS = 24;

  private final DType dtype;
  private final ReduceOp.Kind reduction;
  private final int ranks;

  TestData(Plan plan, int ranks) {
    this.dtype = plan.dtype();
    this.reduction = plan.reduction();
    this.ranks = ranks;
  }

  /** What {@code rank} contributes at a place. */
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

  /** What the reduction of all ranks' values at a place is. */
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
