package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.BackendOperations;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.EventCache;
import org.sparkcollectives.gpu.testing.FakeCuda;
import org.sparkcollectives.gpu.testing.FakeNccl;

/** The turns of those who use one communicator. */
final class CommunicatorLaneTest {

  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final FakeCuda cuda = new FakeCuda(1);
  private final FakeNccl nccl = new FakeNccl(cuda);
  private CudaDevice device;
  private EventCache events;
  private CommunicatorLane lane;

  @BeforeEach
  void make() {
    device = CudaDevice.open(cuda, 0);
    events = new EventCache(device, false);
    lane = lane(1);
  }

  private CommunicatorLane lane(int size) {
    byte[] id = new byte[Nccl.UNIQUE_ID_BYTES];
    nccl.uniqueId(id);
    return new CommunicatorLane(
        nccl,
        device,
        "the communicator of the test",
        false,
        LIMIT,
        new DaemonThreads("0"),
        () -> false,
        (name, deadline) ->
            Communicator.make(
                nccl,
                name,
                "ncclCommInitRankConfig",
                deadline,
                slot -> nccl.commInit(slot, size, 0, id, new NcclSettings(false).encode())));
  }

  @AfterEach
  void close() {
    lane.abort();
    lane.closeStream();
    events.close();
    device.close();
    cuda.close();
    assertThat(cuda.leaks()).isEmpty();
    assertThat(nccl.violations()).isEmpty();
  }

  @Test
  void whatIsPutInWhileTheCommunicatorIsUsedOtherwiseBeginsAfterwards() throws Exception {
    lane.makeNow();
    Begun begun = new Begun();
    NcclOperation operation = operation(begun);
    lane.derive(
        LIMIT,
        (communicator, deadline) -> {
          Thread other =
              new Thread(
                  () -> {
                    lane.add(List.of(operation));
                    lane.begin();
                  });
          other.start();
          join(other);
          assertThat(begun.started.getCount()).isEqualTo(1);
          return communicator;
        });
    assertThat(begun.started.getCount()).isZero();
    operation.drop();
  }

  @Test
  void aCommunicatorThatWasAbortedIsNotUsed() {
    lane.makeNow();
    lane.abort();
    assertThatThrownBy(() -> lane.derive(LIMIT, (communicator, deadline) -> nccl.asyncError(-1)))
        .isInstanceOf(GroupAbortedException.class)
        .hasMessageContaining("the communicator of the test");
  }

  @Test
  void memoryIsAllocatedAlsoWhenTheCommunicatorIsGone() {
    lane.makeNow();
    NcclMemory memory = new NcclMemory(nccl, device);
    memory.use(lane.communicator(), lane);
    lane.abort();
    assertThat(memory.allocate(DType.FLOAT32, 8).count()).isEqualTo(8);
    memory.deregister();
    memory.free();
  }

  @Test
  void anInterruptEndsTheWaitForACommunicator() {
    lane = lane(2);
    Thread.currentThread().interrupt();
    assertThatThrownBy(lane::makeNow)
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("Interrupted")
        .hasMessageContaining("ncclCommInitRankConfig of the communicator of the test");
    assertThat(Thread.interrupted()).isTrue();
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private NcclOperation operation(Begun begun) {
    long previous = device.enter();
    try {
      NcclOperation operation =
          new NcclOperation(
              lane,
              device,
              events,
              null,
              List.of(),
              target -> {},
              CudaStream.defaultOf(device).handle());
      operation.begun(begun);
      return operation;
    } finally {
      device.leave(previous);
    }
  }

  private static final class Begun implements BackendOperations.Begun {

    private final CountDownLatch started = new CountDownLatch(1);

    @Override
    public Work work() {
      throw new AssertionError("nobody asks for it");
    }

    @Override
    public String describe() {
      return "an operation of the test";
    }

    @Override
    public void started() {
      started.countDown();
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
