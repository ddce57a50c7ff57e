package org.sparkcollectives.ddp;

import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.join.JoinStep;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * How the gradients of all ranks become their mean in one step: over all ranks, over the ranks that
 * still have rows, or over the rows of all ranks.
 *
 * <p>The sum is divided once, at the end. Only the mean over rows multiplies each rank's gradients
 * first, by its share of the rows.
 */
final class GradientMean {

  private enum Over {
    RANKS,
    ACTIVE_RANKS,
    ROWS
  }

  private final Over over;
  private final int ranks;
  private final double rows;
  private final RowCount allRows;
  private final JoinStep join;

  private GradientMean(Over over, int ranks, double rows, RowCount allRows, JoinStep join) {
    this.over = over;
    this.ranks = ranks;
    this.rows = rows;
    this.allRows = allRows;
    this.join = join;
  }

  static GradientMean overRanks(int ranks) {
    return new GradientMean(Over.RANKS, ranks, 0, null, null);
  }

  /** Creates the mean over the ranks that still have rows in a step of a join. */
  static GradientMean overActiveRanks(int ranks, JoinStep join) {
    return new GradientMean(Over.ACTIVE_RANKS, ranks, 0, null, join);
  }

  /** Creates the mean over the rows of all ranks, of which this rank has {@code rows}. */
  static GradientMean overRows(int ranks, double rows, RowCount allRows) {
    return new GradientMean(Over.ROWS, ranks, rows, allRows, null);
  }

  /** Returns whether a reduction can begin without waiting for other ranks. */
  boolean mayBegin() {
    return over != Over.ROWS || allRows.isKnown();
  }

  /**
   * Returns whether the flag of a failed step survives the reduction: it does not where the ranks
   * multiply by factors of their own, which may be 0.
   */
  boolean keepsFlag() {
    return over != Over.ROWS;
  }

  /** Returns the reduction of a bucket; waits for other ranks unless {@link #mayBegin}. */
  ReduceOp reduction(DType type) {
    return switch (over) {
      case RANKS -> MeanAllReduce.reduction(type, true);
      case ACTIVE_RANKS -> MeanAllReduce.reduction(type, false);
      case ROWS -> ReduceOp.premulSum(share());
    };
  }

  private double share() {
    double all = allRows.get();
    return all == 0 ? 0 : rows / all;
  }

  /** Turns the outcome of {@link #reduction} into the mean. */
  void finish(Tensor reduced) {
    if (over == Over.ACTIVE_RANKS) {
      MeanAllReduce.divide(reduced, ranks, divisor());
    }
  }

  /**
   * Returns what this rank contributes to the sum of sparse gradients. Halves are summed up in
   * float32, because a sum of them may overflow where their mean does not.
   */
  SparseTensor contribution(SparseTensor gradient) {
    Tensor values = gradient.values();
    if (over != Over.ROWS && !TensorArithmetic.isHalf(values.dtype())) {
      return gradient;
    }
    HostTensor copy = HostTensor.allocate(summed(values.dtype()), values.count());
    convert(values, copy);
    if (over == Over.ROWS) {
      TensorArithmetic.multiply(copy, share());
    }
    return SparseTensor.of(gradient.shape(), gradient.indices(), copy.reshape(values.shape()));
  }

  /** Turns a sum of sparse gradients into the mean, of the type that the gradients have. */
  SparseTensor finish(SparseTensor sum, DType type) {
    if (over != Over.ROWS) {
      TensorArithmetic.divide(sum.values(), divisor());
    }
    if (!TensorArithmetic.isHalf(type)) {
      return sum;
    }
    HostTensor values = HostTensor.allocate(type, sum.values().count());
    convert(sum.values(), values);
    return SparseTensor.of(sum.shape(), sum.indices(), values.reshape(sum.values().shape()));
  }

  private static DType summed(DType type) {
    return TensorArithmetic.isHalf(type) ? DType.FLOAT32 : type;
  }

  private static void convert(Tensor from, HostTensor to) {
    if (from.dtype() == to.dtype()) {
      to.copyFrom(from);
    } else {
      FloatElements.convert(HostTensor.of(from), to);
    }
  }

  /**
   * Prepares a buffer for a hook, which then divides its sum by {@link #divisor}. Weights are about
   * 1, so that gradients keep their size: hooks round them to half types.
   */
  void prepare(Tensor buffer) {
    if (over == Over.ROWS) {
      TensorArithmetic.multiply(buffer, ranks * share());
    }
  }

  /** Returns what a sum is divided by; waits for the other ranks where it depends on them. */
  double divisor() {
    return over == Over.ACTIVE_RANKS ? join.divisor() : ranks;
  }
}
