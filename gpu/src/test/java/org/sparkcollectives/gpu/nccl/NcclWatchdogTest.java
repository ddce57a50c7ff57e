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
import org.sparkcollectives.gpu.testing.FakeCuda;
import org.sparkcollectives.gpu.testing.FakeNccl;
import org.sparkcollectives.spi.BackendOperations;

/** Tests the watchdog without its thread. */
final class NcclWatchdogTest {

  private final FakeCuda cuda = new FakeCuda(1);
  private final CudaDevice device = CudaDevice.open(cuda, 0);
  private final OperationEvents events = new OperationEvents(device);
  private final DaemonThreads threads = new DaemonThreads("0");
  private final LazyCommunicator communicator =
      new LazyCommunicator(
          device,
          "the communicator of the test",
          false,
          threads,
          () -> false,
          (name, deadline) -> {
            throw new AssertionError("no operation needs it");
          });
  private final CommunicatorQueue queue =
      new CommunicatorQueue(new FakeNccl(cuda), device, communicator);
  private final NcclWatchdog watchdog = new NcclWatchdog(null, () -> List.of(queue));
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
          new NcclOperation(communicator, events, List.of(), target -> {}, Cuda.DEFAULT_STREAM);
      operation.begun(new Begun(Work.of(OpType.ALL_REDUCE, 0, end)));
      return operation;
    } finally {
      device.leave(previous);
    }
  }

  @Test
  void anOperationThatWasDoneBeforeIsNotWatched() {
    NcclOperation operation = operation();
    // Another thread started the operation, and found it to be done.
    end.complete(List.of());
    watchdog.watch(operation);
    assertThat(watchdog.isIdle()).isTrue();
    operation.drop();
  }

  @Test
  void anOperationThatIsNotDoneIsWatchedAndDroppedAtTheEnd() {
    watchdog.watch(operation());
    assertThat(watchdog.isIdle()).isFalse();
    watchdog.dropAll();
    assertThat(watchdog.isIdle()).isTrue();
  }

  private record Begun(Work work) implements BackendOperations.Begun {

    @Override
    public String describe() {
      return "an operation of the test";
    }

    @Override
    public void started() {
      throw new AssertionError("no operation starts");
    }

    @Override
    public void completed() {
      throw new AssertionError("the thread of the watchdog does not run");
    }

    @Override
    public void failed(Throwable cause) {
      throw new AssertionError(cause);
    }
  }
}
