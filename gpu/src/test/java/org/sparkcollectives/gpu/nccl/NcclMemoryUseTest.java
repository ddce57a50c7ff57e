package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.testing.FakeGpus;

/** Tests a tensor's memory while an operation over NCCL uses it. */
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
            // Neither waits for the operation, whose peer waits for this rank.
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

  @Test
  void aGroupThatIsClosedButKeptKeepsNoTensors() {
    List<ProcessGroup> kept = new ArrayList<>();
    gpus.run(
        1,
        (world, gpu) -> {
          kept.add(world);
          world.allReduce(DeviceTensor.copyOf(gpu, Tensor.of(1f, 2f)), ReduceOp.SUM).await();
          return null;
        });
    gpus.cuda().awaitNothingLeftAfterCollection();
    assertThat(kept.get(0).rank()).isZero();
  }

  @Test
  void aGroupThatFailedAndWasClosedButIsKeptKeepsNoTensors() {
    List<ProcessGroup> kept = new CopyOnWriteArrayList<>();
    CountDownLatch over = new CountDownLatch(1);
    gpus.run(
        2,
        (world, gpu) -> {
          kept.add(world);
          DeviceTensor tensor = DeviceTensor.copyOf(gpu, Tensor.of(1f, 2f));
          world.allReduce(tensor, ReduceOp.SUM).await();
          if (world.rank() == 1) {
            over.await();
            return null;
          }
          ProcessGroup hasty = world.withTimeout(Duration.ofMillis(700));
          Work alone = hasty.allReduce(tensor, ReduceOp.SUM);
          assertThatThrownBy(alone::await).isInstanceOf(CollectiveException.class);
          over.countDown();
          return null;
        });
    gpus.cuda().awaitNothingLeftAfterCollection();
    assertThat(kept).extracting(ProcessGroup::size).containsExactly(2, 2);
  }

  @Test
  void memoryThatIsKeptForTensorsMakesRoomForThatOfAGroup() {
    gpus.cuda().memory().limit(16 << 20);
    gpus.run(
        1,
        (world, gpu) -> {
          DeviceTensor.allocate(gpu, DType.INT8, 12 << 20).free();
          assertThat(gpu.memoryReserved()).isEqualTo(12 << 20);
          Tensor large = world.allocate(DType.INT8, 12 << 20, Device.Type.CUDA);
          assertThat(large.count()).isEqualTo(12 << 20);
          assertThat(gpu.memoryReserved()).isZero();
          return null;
        });
  }

  @Test
  void whatABarrierThatFailedMayStillWriteIsNotUsedAgain() {
    CountDownLatch over = new CountDownLatch(1);
    gpus.run(
        2,
        (world, gpu) -> {
          world.barrier().await();
          if (world.rank() == 1) {
            over.await();
            return null;
          }
          ProcessGroup hasty = world.withTimeout(Duration.ofMillis(700));
          assertThatThrownBy(() -> hasty.barrier().await()).isInstanceOf(CollectiveException.class);
          over.countDown();
          world.close();
          long kept = gpu.memoryReserved();
          DeviceTensor other = DeviceTensor.allocate(gpu, DType.INT32, 1);
          assertThat(gpu.memoryReserved()).isGreaterThan(kept);
          other.free();
          return null;
        });
  }
}
