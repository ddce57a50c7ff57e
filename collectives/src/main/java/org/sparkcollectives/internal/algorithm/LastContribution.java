package org.sparkcollectives.internal.algorithm;

import java.nio.ByteBuffer;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Reduces the last rank's contribution: finishes each piece as soon as it has been reduced, while
 * the rest is on its way. So {@link #finish} does nothing.
 *
 * @param result gets the finished elements, at the offsets that they have in the accumulator; it
 *     may be the accumulator itself
 * @param contributions how many there are, with this rank's own
 */
record LastContribution(ReduceKernel kernel, HostTensor result, int contributions)
    implements WrappedKernel {

  @Override
  public void accumulate(HostTensor accumulator, long offset, int count, ByteBuffer source) {
    kernel.accumulate(accumulator, offset, count, source);
    kernel.finish(result, offset, accumulator, offset, count, contributions);
  }

  @Override
  public void accumulate(
      HostTensor accumulator, long offset, HostTensor source, long sourceOffset, long count) {
    kernel.accumulate(accumulator, offset, source, sourceOffset, count);
    kernel.finish(result, offset, accumulator, offset, count, contributions);
  }

  @Override
  public void finish(
      HostTensor finishedResult,
      long offset,
      HostTensor accumulator,
      long accumulatorOffset,
      long count,
      int allContributions) {
    // Was done piece by piece.
  }
}
