package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.testing.FakeCuda;
import org.sparkcollectives.gpu.testing.FakeNccl;
import org.sparkcollectives.spi.BackendOperations;
import org.sparkcollectives.testing.Eventually;

/**
 * Gives a test the queue of a communicator of one rank, which is not created yet, over the fakes.
 * After the test nothing may be left, and the fake of NCCL must have recorded no violation.
 */
final class CommunicatorFixture implements BeforeEachCallback, AfterEachCallback {

  static final Duration LIMIT = Duration.ofSeconds(30);

  final FakeCuda cuda = new FakeCuda(1);
  final FakeNccl nccl = new FakeNccl(cuda);
  final DaemonThreads threads = new DaemonThreads("0");
  CudaDevice device;
  CommunicatorQueue queue;
  private OperationEvents events;

  @Override
  public void beforeEach(ExtensionContext test) {
    device = CudaDevice.open(cuda, 0);
    events = new OperationEvents(device);
    useQueue(1, created -> {});
  }

  @Override
  public void afterEach(ExtensionContext test) {
    queue.communicator().abort();
    assertThat(threads.join(LIMIT)).isTrue();
    queue.release();
    events.close();
    device.close();
    cuda.close();
    assertThat(nccl.communicators()).isZero();
    assertThat(cuda.leaks()).isEmpty();
    assertThat(nccl.violations()).isEmpty();
  }

  /**
   * Replaces the queue.
   *
   * @param size the number of ranks of the communicator; the others never join
   * @param whenCreated runs before anybody else can use the communicator
   */
  void useQueue(int size, Consumer<Communicator> whenCreated) {
    byte[] id = new byte[Nccl.UNIQUE_ID_BYTES];
    nccl.uniqueId(id);
    useQueue(
        (name, deadline) -> {
          Communicator created =
              Communicator.create(
                  nccl,
                  name,
                  "ncclCommInitRankConfig",
                  deadline,
                  slot -> nccl.commInit(slot, size, 0, id, new NcclSettings(false).encode()),
                  never -> {});
          whenCreated.accept(created);
          return created;
        });
  }

  /** Replaces the queue. */
  void useQueue(LazyCommunicator.Factory factory) {
    queue =
        new CommunicatorQueue(
            nccl,
            device,
            new LazyCommunicator(
                device, "the communicator of the test", false, threads, () -> false, factory));
  }

  void launch(NcclOperation operation) {
    queue.add(List.of(operation));
    queue.begin();
  }

  void awaitCall(String function) {
    Eventually.holds(() -> nccl.calls().contains(function), () -> function + " is not called");
  }

  static Thread start(Runnable body) {
    Thread thread = new Thread(body);
    thread.start();
    return thread;
  }

  static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  void emptySum(CommunicatorStream target) {
    target.allReduce(DeviceTensor.wrap(device, DType.FLOAT32, 0, 0), ReduceOp.SUM);
  }

  NcclOperation operation(Begun begun) {
    return operation(begun, target -> {});
  }

  NcclOperation operation(Begun begun, NcclOperation.Call call) {
    long previous = device.enter();
    try {
      NcclOperation operation =
          new NcclOperation(
              queue.communicator(), events, List.of(), call, CudaStream.defaultOf(device).handle());
      operation.begun(begun);
      return operation;
    } finally {
      device.leave(previous);
    }
  }

  /** The work of an operation, of which a test sees only the start and the failure. */
  static final class Begun implements BackendOperations.Begun {

    final CountDownLatch started = new CountDownLatch(1);
    private final CompletableFuture<Throwable> failure = new CompletableFuture<>();

    /** Waits for the failure; returns null if it does not come. */
    Throwable failure(Duration atMost) {
      return failure.completeOnTimeout(null, atMost.toMillis(), TimeUnit.MILLISECONDS).join();
    }

    @Override
    public Work work() {
      throw new AssertionError("no test asks for it");
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
      throw new AssertionError("no watchdog runs");
    }

    @Override
    public void failed(Throwable cause) {
      failure.complete(cause);
    }
  }
}
