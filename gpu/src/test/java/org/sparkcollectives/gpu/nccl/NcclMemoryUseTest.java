package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.testing.FakeGpus;

/** What becomes of a tensor's memory while an operation uses it over NCCL. */
final class NcclMemoryUseTest {

  @RegisterExtension final FakeGpus gpus = new FakeGpus();

  @Test
  void aTensorThatIsFreedMeanwhileIsUsedAgainOnlyAfterTheOperation() {
    CountDownLatch freed = new CountDownLatch(1);
    gpus.run(
        2,
        (world, gpu) -> {
          DeviceTensor tensor = DeviceTensor.copyOf(gpu, Tensor.of(1f, 2f));
          if (world.rank() == 1) {
            freed.await();
          }
          Work work = world.allReduce(tensor, ReduceOp.SUM);
          tensor.free();
          if (world.rank() == 0) {
            // Neither waits for the operation, whose peer waits for this.
            DeviceTensor other = DeviceTensor.allocate(gpu, DType.FLOAT32, 2);
            other.free();
            freed.countDown();
            assertThat(other.address()).isNotEqualTo(tensor.address());
          }
          work.await();
          assertThat(gpu.memoryAllocated()).isZero();
          return null;
        });
  }

  @Test
  void aTensorThatWasFreedIsRefused() {
    gpus.run(
        1,
        (world, gpu) -> {
          DeviceTensor tensor = DeviceTensor.copyOf(gpu, Tensor.of(1f, 2f));
          tensor.free();
          assertThatThrownBy(() -> world.allReduce(tensor, ReduceOp.SUM))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("after it was freed");
          return null;
        });
  }
}
