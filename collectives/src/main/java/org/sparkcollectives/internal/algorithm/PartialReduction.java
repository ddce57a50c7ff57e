package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.kernel.ReduceKernels;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * A reduction of some of the contributions, which have been multiplied: its results are
 * accumulators, still to be reduced with others and then to be finished. What is rounded at the end
 * is thus rounded once.
 */
record PartialReduction(ReduceKernel kernel) implements WrappedKernel {

  /** Returns the kernel that reduces accumulators of another one. */
  static ReduceKernel ofAccumulators(ReduceKernel kernel) {
    return ReduceKernels.of(ofAccumulators(kernel.op()), kernel.accumulatorType());
  }

  /**
   * Returns the kernel that reduces the sums of several ranks, where {@code kernel} reduces the
   * contribution of one.
   */
  static ReduceKernel ofSums(ReduceKernel kernel) {
    return kernel.reducesInPlace() ? kernel : ofAccumulators(kernel);
  }

  private static ReduceOp ofAccumulators(ReduceOp op) {
    return switch (op.kind()) {
      case AVG, PREMUL_SUM -> ReduceOp.SUM;
      default -> op;
    };
  }

  @Override
  public ReduceOp op() {
    return ofAccumulators(kernel.op());
  }

  @Override
  public DType resultType() {
    return accumulatorType();
  }

  @Override
  public void premultiply(HostTensor input, long offset, long count) {
    // Was done by whoever asks for a partial reduction.
  }

  @Override
  public void finish(
      HostTensor result,
      long offset,
      HostTensor accumulator,
      long accumulatorOffset,
      long count,
      int contributions) {
    if (result != accumulator || offset != accumulatorOffset) {
      result.copyFrom(offset, accumulator, accumulatorOffset, count);
    }
  }
}
