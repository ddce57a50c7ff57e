package org.sparkcollectives.internal.algorithm;

import java.nio.ByteBuffer;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * The rest of a reduction whose contributions have been reduced in part, see {@link
 * PartialReduction}: it begins with accumulators, and its results are those of the whole reduction.
 *
 * @param kernel of the whole reduction
 * @param contributions to the whole reduction
 */
record FinalReduction(ReduceKernel kernel, int contributions) implements WrappedKernel {

  private ReduceKernel ofAccumulators() {
    return PartialReduction.ofAccumulators(kernel);
  }

  @Override
  public ReduceOp op() {
    return ofAccumulators().op();
  }

  @Override
  public DType inputType() {
    return kernel.accumulatorType();
  }

  @Override
  public void premultiply(HostTensor input, long offset, long count) {
    // Was done before the partial reductions.
  }

  @Override
  public void load(
      HostTensor accumulator, long offset, HostTensor input, long inputOffset, long count) {
    ofAccumulators().load(accumulator, offset, input, inputOffset, count);
  }

  @Override
  public void accumulate(HostTensor accumulator, long offset, int count, ByteBuffer source) {
    ofAccumulators().accumulate(accumulator, offset, count, source);
  }

  @Override
  public void accumulate(
      HostTensor accumulator, long offset, HostTensor source, long sourceOffset, long count) {
    ofAccumulators().accumulate(accumulator, offset, source, sourceOffset, count);
  }

  @Override
  public void finish(
      HostTensor result,
      long offset,
      HostTensor accumulator,
      long accumulatorOffset,
      long count,
      int partialReductions) {
    kernel.finish(result, offset, accumulator, accumulatorOffset, count, contributions);
  }
}
