package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.testing.FakeGpus;
import org.sparkcollectives.testing.LeakCheck;

/**
 * Tests the order of operations between GPUs and a rank's other work, and their memory, over fakes
 * of the driver and of NCCL.
 */
@ExtendWith(LeakCheck.class)
class NcclStreamsTest {

  @RegisterExtension final FakeGpus gpus = new FakeGpus();

  @Test
  void hostAndGpuTensorsOfOneGroupTakeTheirOwnWaysInOneSequence() {
    gpus.run(
        2,
        (world, gpu) -> {
          try (GpuTensors tensors = new GpuTensors(gpu)) {
            float[] host = {1};
            DeviceTensor device = tensors.of(1f);
            Work first = world.allReduce(Tensor.of(host), ReduceOp.SUM);
            Work second = world.allReduce(device, ReduceOp.SUM);
            Work third = world.barrier();
            first.await();
            second.await();
            third.await();
            assertThat(host).containsExactly(2);
            assertThat(GpuTensors.floats(device)).containsExactly(2);
            assertThat(second.sequenceNumber()).isEqualTo(1);
            assertThat(third.sequenceNumber()).isEqualTo(2);
            assertThat(world.flightRecorder().records()).hasSize(3);
            assertThatThrownBy(() -> world.allGather(device, Tensor.of(1f)))
                .isInstanceOf(IllegalArgumentException.class);
            assertThat(world.backend()).isEqualTo("cpu:netty,cuda:" + FakeGpus.BACKEND);
            assertThat(world.objects().allGather("r" + world.rank())).containsExactly("r0", "r1");
          }
          return null;
        });
  }

  @Test
  void aStreamWaitsWhileTheHostGoesOn() {
    gpus.run(
        2,
        (world, gpu) -> {
          try (GpuTensors tensors = new GpuTensors(gpu);
              CudaStream mine = CudaStream.create(gpu, false)) {
            DeviceTensor data = tensors.of(1f);
            DeviceTensor copy = tensors.of(0f);
            try (CudaStream.Use use = mine.use()) {
              assertThat(use).isNotNull();
              // The collective starts after the work in the caller's stream.
              data.copyFrom(Tensor.of(new float[] {world.rank() + 1}));
              Work work = world.allReduce(data, ReduceOp.SUM);
              work.synchronize(mine);
              copy.copyFrom(data);
              mine.synchronize();
              assertThat(GpuTensors.floats(copy)).containsExactly(3);
              work.await();
            }
          }
          return null;
        });
  }

  @Test
  void theGpuCanMeasureWhatItDoes() {
    gpus.run(
        2,
        (world, gpu) -> {
          try (GpuTensors tensors = new GpuTensors(gpu)) {
            DeviceTensor data = tensors.of(1f);
            world.allReduce(data, ReduceOp.SUM).await();
            world.withTimeout(Duration.ofMinutes(1)).enableTiming();
            Work work = world.allReduce(data, ReduceOp.SUM);
            work.await();
            assertThat(work.durationMillis().orElseThrow()).isPositive();
          }
          return null;
        });
    assertThat(gpus.cuda().measurements()).as("one by each rank").isEqualTo(2);
  }

  @Test
  void aGroupForGpusAloneHasAMemoryABarrierAndObjects() {
    gpus.run(
        2,
        FakeGpus.options().withBackend("cuda:" + FakeGpus.BACKEND),
        (world, gpu) -> {
          DeviceTensor data = DeviceTensor.of(world.allocate(DType.FLOAT32, 2));
          data.copyFrom(Tensor.of(1f, 2));
          world.allReduce(data, ReduceOp.SUM).await();
          assertThat(GpuTensors.floats(data)).containsExactly(2, 4);
          assertThat(gpus.nccl().registrations()).isPositive();
          world.barrier().await();
          assertThat(world.objects().broadcast(world.rank() == 0 ? "x" : null, 0)).isEqualTo("x");
          assertThatThrownBy(() -> world.allReduce(Tensor.of(1f), ReduceOp.SUM))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("no backend for tensors of cpu");
          return null;
        });
  }

  @Test
  void memoryOfARanksGpuComesFromTheGroup() {
    gpus.run(
        1,
        (world, gpu) -> {
          DeviceTensor data = DeviceTensor.of(world.allocate(DType.FLOAT32, 3, Device.Type.CUDA));
          assertThat(data.gpu().ordinal()).isZero();
          assertThat(GpuTensors.floats(data)).containsExactly(0, 0, 0);
          assertThat(world.allocate(DType.FLOAT32, 3).device()).isEqualTo(Device.CPU);
          return null;
        });
  }
}
