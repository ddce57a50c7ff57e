package org.sparkcollectives.internal.algorithm;

import java.nio.ByteBuffer;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Does what another kernel does, but for the steps that are overridden. */
interface WrappedKernel extends ReduceKernel {

  /** Returns the other kernel. */
  ReduceKernel kernel();

  @Override
  default ReduceOp op() {
    return kernel().op();
  }

  @Override
  default DType inputType() {
    return kernel().inputType();
  }

  @Override
  default DType accumulatorType() {
    return kernel().accumulatorType();
  }

  @Override
  default DType resultType() {
    return kernel().resultType();
  }

  @Override
  default void premultiply(HostTensor input, long offset, long count) {
    kernel().premultiply(input, offset, count);
  }

  @Override
  default void load(
      HostTensor accumulator, long offset, HostTensor input, long inputOffset, long count) {
    kernel().load(accumulator, offset, input, inputOffset, count);
  }

  @Override
  default void accumulate(HostTensor accumulator, long offset, int count, ByteBuffer source) {
    kernel().accumulate(accumulator, offset, count, source);
  }

  @Override
  default void accumulate(
      HostTensor accumulator, long offset, HostTensor source, long sourceOffset, long count) {
    kernel().accumulate(accumulator, offset, source, sourceOffset, count);
  }
}
