package org.sparkcollectives.gpu.staged;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.Cuda;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.testing.FakeCuda;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.BackendRegistry;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.GroupRuns;

/** Tests a tensor's memory while and after an operation through the host uses it. */
final class StagedMemoryTest {

  private static final String BACKEND = "staged-fake";

  private final FakeCuda cuda = new FakeCuda(1);

  @BeforeEach
  void register() {
    BackendRegistry.register(new StagedBackendProvider(BACKEND, () -> cuda));
  }

  @AfterEach
  void nothingIsLeft() {
    BackendRegistry.unregister(BACKEND);
    // Pinned memory of failed operations is garbage-collected.
    cuda.awaitNothingLeftAfterCollection();
    cuda.close();
    assertThat(cuda.streams().errors()).isEmpty();
  }

  /** The program of a rank. */
  private interface Body {
    void run(ProcessGroup world, CudaDevice gpu) throws Exception;
  }

  private void run(boolean nanCheck, Body body) {
    run(1, nanCheck, body);
  }

  private void run(int size, boolean nanCheck, Body body) {
    GroupOptions options =
        GroupOptions.defaults().withBackend("cpu:netty,cuda:" + BACKEND).withNanCheck(nanCheck);
    try (HashStore store = new HashStore()) {
      GroupRuns.run(
          store,
          size,
          options,
          rank ->
              new HostedRank(List.of("spark.collectives.gpu.ordinal=0"), TransportSecurity.plain()),
          world -> {
            try (CudaDevice gpu = CudaDevice.open(cuda, 0)) {
              body.run(world, gpu);
            }
            return null;
          });
    }
  }

  @Test
  void aTensorThatIsFreedMeanwhileIsUsedAgainOnlyAfterTheOperation() {
    run(
        false,
        (world, gpu) -> {
          DeviceTensor tensor = DeviceTensor.copyOf(gpu, Tensor.of(1f, 2f));
          gpu.enter();
          CountDownLatch busy = cuda.streams().pause(Cuda.DEFAULT_STREAM);
          Work work = world.allReduce(tensor, ReduceOp.SUM);
          tensor.free();
          DeviceTensor other = DeviceTensor.allocate(gpu, DType.FLOAT32, 2);
          assertThat(other.address()).isNotEqualTo(tensor.address());
          busy.countDown();
          work.await();
          other.free();
        });
  }

  @Test
  void memoryOfAnOperationThatFailedIsNotUsedAgain() {
    run(
        true,
        (world, gpu) -> {
          DeviceTensor tensor = DeviceTensor.copyOf(gpu, Tensor.of(1f, Float.NaN));
          Work work = world.allReduce(tensor, ReduceOp.SUM);
          assertThatThrownBy(work::await).isInstanceOf(CollectiveException.class);
          tensor.free();
          DeviceTensor other = DeviceTensor.copyOf(gpu, Tensor.of(1f, 2f));
          assertThat(other.address()).isNotEqualTo(tensor.address());
          other.free();
        });
  }

  @Test
  void theNanCheckIsTurnedOnAndOffWhileTheGroupLives() {
    run(
        false,
        (world, gpu) -> {
          DeviceTensor tensor = DeviceTensor.copyOf(gpu, Tensor.of(1f, Float.NaN));
          world.allReduce(tensor).await();
          world.setNanCheck(true);
          world.setNanCheck(false);
          world.allReduce(tensor).await();
          world.setNanCheck(true);
          assertThatThrownBy(world.allReduce(tensor)::await)
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("is not a number");
          tensor.free();
        });
  }

  @Test
  void aTensorThatWasFreedIsRefused() {
    run(
        false,
        (world, gpu) -> {
          DeviceTensor tensor = DeviceTensor.copyOf(gpu, Tensor.of(1f, 2f));
          tensor.free();
          assertThatThrownBy(() -> world.allReduce(tensor, ReduceOp.SUM))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("after it was freed");
          assertThatThrownBy(() -> tensor.copyTo(new float[2]))
              .isInstanceOf(IllegalStateException.class);
        });
  }

  @Test
  void aMessageThatHasArrivedIsCopiedToTheGpuBeforeTheGroupIsClosed() {
    run(
        2,
        false,
        (world, gpu) -> {
          if (world.rank() == 0) {
            DeviceTensor sent = DeviceTensor.copyOf(gpu, Tensor.of(1f, 2f));
            world.send(sent, 1, 0).await();
            sent.free();
            return;
          }
          DeviceTensor received = DeviceTensor.copyOf(gpu, Tensor.of(0f, 0f));
          gpu.enter();
          try (CudaStream stream = CudaStream.create(gpu, false)) {
            CountDownLatch busy = cuda.streams().pause(stream.handle());
            CudaStream.Use use = stream.use();
            Work work = world.recv(received, 0, 0);
            use.close();
            Eventually.holds(StagedMemoryTest::somethingIsCopied, () -> "nothing has arrived");
            Thread closing = new Thread(world::close);
            closing.start();
            closing.join(300);
            busy.countDown();
            closing.join();
            work.await();
          }
          float[] values = new float[2];
          received.copyTo(values);
          assertThat(values).containsExactly(1, 2);
          received.free();
        });
  }

  private static boolean somethingIsCopied() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(each -> each.getName().startsWith("collectives-staging-"));
  }
}
