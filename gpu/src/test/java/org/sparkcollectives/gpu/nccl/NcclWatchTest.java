package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.OpType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.cuda.Cuda;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.EventCache;
import org.sparkcollectives.gpu.testing.FakeCuda;
import org.sparkcollectives.gpu.testing.FakeNccl;
import org.sparkcollectives.spi.BackendOperations;

/** Tests the watch without its thread. */
final class NcclWatchTest {

  private final FakeCuda cuda = new FakeCuda(1);
  private final CudaDevice device = CudaDevice.open(cuda, 0);
  private final EventCache events = new EventCache(device, false);
  private final CommunicatorLane lane =
      new CommunicatorLane(
          new FakeNccl(cuda),
          device,
          "the communicator of the test",
          false,
          new DaemonThreads("0"),
          () -> false,
          (name, deadline) -> {
            throw new AssertionError("nobody wants it");
          });
  private final NcclWatch watch = new NcclWatch(null, () -> List.of(lane));
  private final CompletableFuture<List<Tensor>> end = new CompletableFuture<>();

  @AfterEach
  void close() {
    events.close();
    device.close();
    cuda.close();
    assertThat(cuda.leaks()).isEmpty();
  }

  private NcclOperation operation() {
    long previous = device.enter();
    try {
      NcclOperation operation =
          new NcclOperation(
              lane, device, events, null, List.of(), target -> {}, Cuda.DEFAULT_STREAM);
      operation.begun(new Begun(Work.of(OpType.ALL_REDUCE, 0, end)));
      return operation;
    } finally {
      device.leave(previous);
    }
  }

  @Test
  void whatWasOverBeforeItCameIsNotLookedAfter() {
    NcclOperation operation = operation();
    // Another thread started the operation, and found it to be done.
    end.complete(List.of());
    watch.watch(operation);
    assertThat(watch.isIdle()).isTrue();
    operation.drop();
  }

  @Test
  void whatIsNotOverIsLookedAfterAndDroppedAtTheEnd() {
    watch.watch(operation());
    assertThat(watch.isIdle()).isFalse();
    watch.dropAll();
    assertThat(watch.isIdle()).isTrue();
  }

  private record Begun(Work work) implements BackendOperations.Begun {

    @Override
    public String describe() {
      return "an operation of the test";
    }

    @Override
    public void started() {
      throw new AssertionError("nobody begins it");
    }

    @Override
    public void completed() {
      throw new AssertionError("nobody looks");
    }

    @Override
    public void failed(Throwable cause) {
      throw new AssertionError(cause);
    }
  }
}
