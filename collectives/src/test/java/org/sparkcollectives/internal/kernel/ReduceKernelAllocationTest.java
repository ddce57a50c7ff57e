package org.sparkcollectives.internal.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.TensorMemory;
import org.sparkcollectives.spi.tensor.TilePool;

class ReduceKernelAllocationTest {

  private static final int CALLS = 1000;

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"FLOAT16", "FLOAT32", "FLOAT64", "BOOL"})
  void theSteadyStateNeedsNoNewTiles(DType dtype) {
    ReduceKernel kernel = ReduceKernels.of(ReduceOp.MAX, dtype);
    HostTensor accumulator = HostTensor.allocate(kernel.accumulatorType(), 3000);
    ByteBuffer message = TensorMemory.direct(3000 * dtype.bytes());
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    kernel.accumulate(accumulator, 0, 3000, message.clear());

    long before = threads.getThreadAllocatedBytes(thread);
    for (int i = 0; i < CALLS; i++) {
      kernel.accumulate(accumulator, 0, 3000, message.clear());
    }
    long bytesPerCall = (threads.getThreadAllocatedBytes(thread) - before) / CALLS;
    assertThat(bytesPerCall).isLessThan(TilePool.LENGTH);
  }
}
