package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.MemoryRegistration;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.Cuda;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.testing.FakeGpus;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.LeakCheck;

/**
 * Tests which memory is registered with NCCL, and until when, over fakes of the driver and of NCCL.
 */
@ExtendWith(LeakCheck.class)
class NcclMemoryTest {

  private static final int INVALID_ARGUMENT = 4;

  @RegisterExtension final FakeGpus gpus = new FakeGpus();

  /** Wraps a tensor's memory as another library would. */
  private static DeviceTensor foreign(CudaDevice gpu, DeviceTensor owner) {
    return DeviceTensor.wrap(gpu, owner.dtype(), owner.address(), owner.count());
  }

  @Test
  void memoryRegisteredBeforeThereIsACommunicatorIsRegisteredWithItLater() {
    gpus.run(
        1,
        (world, gpu) -> {
          DeviceTensor owner = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
          DeviceTensor tensor = foreign(gpu, owner);
          MemoryRegistration registration = world.register(tensor);
          MemoryRegistration withdrawn = world.register(tensor);
          withdrawn.close();
          assertThat(gpus.nccl().registrations()).isZero();
          world.allReduce(tensor, ReduceOp.SUM).await();
          assertThat(gpus.nccl().registrations()).isOne();
          registration.close();
          assertThat(gpus.nccl().registrations()).isZero();
          registration.close();
          owner.free();
          return null;
        });
  }

  @Test
  void memoryThatIsRegisteredTwiceIsKnownUntilBothAreClosed() {
    gpus.run(
        1,
        (world, gpu) -> {
          DeviceTensor owner = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
          world.allReduce(owner, ReduceOp.SUM).await();
          MemoryRegistration all = world.register(foreign(gpu, owner));
          MemoryRegistration part = world.register(foreign(gpu, owner).slice(2, 4));
          assertThat(gpus.nccl().registrations()).isEqualTo(2);
          all.close();
          all.close();
          assertThat(gpus.nccl().registrations()).isOne();
          part.close();
          assertThat(gpus.nccl().registrations()).isZero();
          owner.free();
          return null;
        });
  }

  @Test
  void whatIsNotClosedIsDeregisteredWithTheGroup() {
    AtomicReference<MemoryRegistration> left = new AtomicReference<>();
    gpus.run(
        1,
        (world, gpu) -> {
          DeviceTensor owner = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
          world.allReduce(owner, ReduceOp.SUM).await();
          left.set(world.register(owner));
          world.close();
          owner.free();
          return null;
        });
    assertThat(gpus.nccl().registrations()).isZero();
    assertThatCode(left.get()::close).doesNotThrowAnyException();
  }

  @Test
  void afterAFailureToCloseIsHarmlessAndNcclIsNotCalled() {
    gpus.run(
        1,
        (world, gpu) -> {
          DeviceTensor owner = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
          DeviceTensor own = DeviceTensor.of(world.allocate(DType.FLOAT32, 4, Device.Type.CUDA));
          world.allReduce(owner, ReduceOp.SUM).await();
          MemoryRegistration registration = world.register(owner);
          world.abort(new IllegalStateException("enough"));
          registration.close();
          own.free();
          assertThat(catchThrowable(() -> world.register(owner)))
              .isInstanceOf(CollectiveException.class);
          owner.free();
          return null;
        });
  }

  @Test
  void whatIsNotOnThisRanksGpuIsRefused() {
    gpus.run(
        2,
        (world, gpu) -> {
          assertThatThrownBy(() -> world.register(Tensor.of(1f)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("Backend netty need not be told of memory");
          try (CudaDevice other = CudaDevice.open(gpu.cuda(), 1 - gpu.ordinal())) {
            DeviceTensor elsewhere = DeviceTensor.allocate(other, DType.FLOAT32, 1);
            assertThatThrownBy(() -> world.register(elsewhere))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("works on " + gpu.device());
            elsewhere.free();
          }
          assertThatCode(() -> world.register(DeviceTensor.wrap(gpu, DType.INT8, 0, 0)).close())
              .doesNotThrowAnyException();
          return null;
        });
  }

  @Test
  void whatNcclRefusesIsThrownWhereItIsKnownAndElseOnlyLogged() {
    gpus.nccl().faults().refuseRegistrations(INVALID_ARGUMENT);
    gpus.run(
        1,
        (world, gpu) -> {
          DeviceTensor owner = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
          MemoryRegistration early = world.register(owner);
          world.allReduce(owner, ReduceOp.SUM).await();
          assertThatThrownBy(() -> world.register(owner))
              .isInstanceOf(NcclException.class)
              .hasMessageContaining("ncclCommRegister of float32[8]");
          early.close();
          owner.free();
          return null;
        });
  }

  @Test
  void memoryOfTheGroupCanBeFreedBeforeTheGroupIsClosed() {
    gpus.run(
        1,
        (world, gpu) -> {
          DeviceTensor early = DeviceTensor.of(world.allocate(DType.FLOAT32, 4, Device.Type.CUDA));
          early.free();
          awaitNoAllocations();
          DeviceTensor tensor = DeviceTensor.of(world.allocate(DType.FLOAT32, 4, Device.Type.CUDA));
          world.allReduce(tensor, ReduceOp.SUM).await();
          assertThat(gpus.nccl().registrations()).isOne();
          tensor.slice(1, 2).free();
          awaitNoAllocations();
          assertThat(gpus.nccl().registrations()).isZero();
          tensor.free();
          return null;
        });
  }

  @Test
  void memoryOfTheGroupIsNotUnmappedWhileTheGpuMayUseIt() {
    gpus.run(
        1,
        (world, gpu) -> {
          DeviceTensor tensor = DeviceTensor.of(world.allocate(DType.FLOAT32, 4, Device.Type.CUDA));
          gpu.enter();
          try (CudaStream stream = CudaStream.create(gpu, false)) {
            CountDownLatch busy = gpus.cuda().streams().pause(stream.handle());
            tensor.free();
            assertThatThrownBy(() -> world.allReduce(tensor, ReduceOp.SUM))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("after it was freed");
            gpus.cuda().streams().awaitSynchronizing();
            assertThat(gpus.nccl().allocations()).isOne();
            busy.countDown();
            awaitNoAllocations();
          }
          return null;
        });
  }

  @Test
  void memoryOfTheGroupThatIsFreedMeanwhileIsThereUntilTheOperationIsDone() {
    CountDownLatch freed = new CountDownLatch(1);
    gpus.run(
        2,
        (world, gpu) -> {
          DeviceTensor tensor = DeviceTensor.of(world.allocate(DType.FLOAT32, 4, Device.Type.CUDA));
          if (world.rank() == 1) {
            freed.await();
          }
          // At the first operation rank 0 waits for a communicator that rank 1 has not joined.
          Work work = world.allReduce(tensor, ReduceOp.SUM);
          tensor.free();
          freed.countDown();
          work.await();
          return null;
        });
    awaitNoAllocations();
  }

  @Test
  void memoryOfAGroupIsRefusedWhenTheGroupIsClosed() {
    gpus.run(
        1,
        (world, gpu) -> {
          DeviceTensor tensor = DeviceTensor.of(world.allocate(DType.FLOAT32, 4, Device.Type.CUDA));
          world.close();
          assertThatThrownBy(() -> tensor.copyTo(new float[4]))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("after it was freed");
          return null;
        });
  }

  /** Waits until a thread of the group has freed all memory. */
  private void awaitNoAllocations() {
    Eventually.holds(
        () -> gpus.nccl().allocations() == 0, Eventually.LIMIT, () -> "memory of NCCL is left");
  }

  @Test
  void aKernelOfTheUserThatHangsDoesNotHoldUpTheCloseOfAGroupWithMemory() {
    gpus.tune(NcclTuning.DEFAULT.withAbortTimeout(Duration.ofMillis(200)));
    AtomicReference<CountDownLatch> kernel = new AtomicReference<>();
    gpus.run(
        1,
        (world, gpu) -> {
          world.allocate(DType.FLOAT32, 8, Device.Type.CUDA);
          long previous = gpu.enter();
          kernel.set(gpus.cuda().streams().pause(Cuda.DEFAULT_STREAM));
          gpu.leave(previous);
          return null;
        });
    assertThat(gpus.cuda().leaks()).contains("memory");
    kernel.get().countDown();
    gpus.cuda().awaitNothingLeft();
  }
}
