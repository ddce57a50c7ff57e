package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.MemoryRegistration;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.EventCache;
import org.sparkcollectives.gpu.testing.FakeCuda;
import org.sparkcollectives.gpu.testing.FakeNccl;
import org.sparkcollectives.spi.BackendOperations;
import org.sparkcollectives.testing.Eventually;

/** Tests that the users of one communicator exclude each other. */
final class CommunicatorLaneTest {

  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final FakeCuda cuda = new FakeCuda(1);
  private final FakeNccl nccl = new FakeNccl(cuda);
  private final DaemonThreads threads = new DaemonThreads("0");
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
    return lane(size, made -> {});
  }

  /** Returns a queue whose communicator nobody else can use while {@code whenMade} runs. */
  private CommunicatorLane lane(int size, Consumer<Communicator> whenMade) {
    byte[] id = new byte[Nccl.UNIQUE_ID_BYTES];
    nccl.uniqueId(id);
    return new CommunicatorLane(
        nccl,
        device,
        "the communicator of the test",
        false,
        threads,
        () -> false,
        (name, deadline) -> {
          Communicator made =
              Communicator.make(
                  nccl,
                  name,
                  "ncclCommInitRankConfig",
                  deadline,
                  slot -> nccl.commInit(slot, size, 0, id, new NcclSettings(false).encode()),
                  never -> {});
          whenMade.accept(made);
          return made;
        });
  }

  @AfterEach
  void close() {
    lane.abort();
    assertThat(threads.join(LIMIT)).isTrue();
    lane.letGo();
    events.close();
    device.close();
    cuda.close();
    assertThat(nccl.communicators()).isZero();
    assertThat(cuda.leaks()).isEmpty();
    assertThat(nccl.violations()).isEmpty();
  }

  @Test
  void whatIsPutInWhileTheCommunicatorIsUsedOtherwiseBeginsAfterwards() throws Exception {
    lane.makeNow(LIMIT);
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
    lane.makeNow(LIMIT);
    lane.abort();
    assertThatThrownBy(() -> lane.derive(LIMIT, (communicator, deadline) -> nccl.asyncError(-1)))
        .isInstanceOf(GroupAbortedException.class)
        .hasMessageContaining("the communicator of the test");
  }

  @Test
  void whoseCallAnAbortEndsIsToldOfTheEndAndNotOfAnErrorOfNccl() {
    lane.makeNow(LIMIT);
    assertThatThrownBy(
            () ->
                lane.derive(
                    LIMIT,
                    (communicator, deadline) -> {
                      lane.end();
                      throw new NcclException("ncclCommRegister was aborted", NcclResult.SUCCESS);
                    }))
        .isInstanceOf(GroupAbortedException.class)
        .hasMessageContaining("the communicator of the test");
  }

  @Test
  void memoryIsAllocatedAlsoWhenTheCommunicatorIsGone() {
    lane.makeNow(LIMIT);
    NcclMemory memory = new NcclMemory(nccl, device, new DaemonThreads("0"));
    memory.use(lane.communicator(), lane);
    lane.abort();
    assertThat(memory.allocate(DType.FLOAT32, 8).count()).isEqualTo(8);
    memory.deregister();
    memory.free();
  }

  @Test
  void memoryIsRegisteredAlsoWhileTheCommunicatorIsAboutToBeReady() throws Exception {
    NcclMemory memory = new NcclMemory(nccl, device, new DaemonThreads("0"));
    CountDownLatch told = new CountDownLatch(1);
    CountDownLatch ready = new CountDownLatch(1);
    lane =
        lane(
            1,
            made -> {
              memory.use(made, lane);
              told.countDown();
              try {
                assertThat(ready.await(60, TimeUnit.SECONDS)).isTrue();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });
    Thread make = start(() -> lane.makeNow(LIMIT));
    told.await();
    DeviceTensor tensor = DeviceTensor.allocate(device, DType.FLOAT32, 8);
    CompletableFuture<MemoryRegistration> registered =
        CompletableFuture.supplyAsync(() -> memory.register(tensor));
    assertThatThrownBy(() -> registered.get(200, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    ready.countDown();
    join(make);
    registered.get(60, TimeUnit.SECONDS);
    assertThat(nccl.registrations()).isOne();
    memory.deregister();
    memory.free();
    tensor.free();
  }

  @Test
  void aCommunicatorThatWasToldOfNoMemoryIsNotWaitedForToForgetIt() {
    lane.makeNow(LIMIT);
    NcclMemory memory = new NcclMemory(nccl, device, threads);
    memory.use(lane.communicator(), lane);
    lane.derive(
        LIMIT,
        (communicator, deadline) -> {
          Thread end = start(memory::deregister);
          assertThat(DaemonThreads.join(end, TimeUnit.SECONDS.toNanos(5))).isTrue();
          return communicator;
        });
    memory.free();
  }

  @Test
  void anInterruptEndsTheWaitForACommunicator() {
    lane = lane(2);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> lane.makeNow(LIMIT))
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("Interrupted")
        .hasMessageContaining("ncclCommInitRankConfig of the communicator of the test");
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void anAbortWaitsForTheThreadThatIsWithinNccl() throws Exception {
    lane.makeNow(LIMIT);
    CountDownLatch gate = nccl.faults().hang("ncclGroupEnd");
    Begun begun = new Begun();
    NcclOperation operation = operation(begun, this::emptySum);
    Thread launch = start(() -> launch(operation));
    awaitCall("ncclGroupEnd");
    // A thread that checks for errors meanwhile must not call NCCL for the communicator.
    assertThat(lane.error()).isNull();
    Thread abort = start(lane::abort);
    Eventually.holds(lane::isEnded, () -> "the lane has not ended");
    assertThat(lane.awaitUnused(Duration.ofMillis(50))).isFalse();
    assertThat(nccl.calls()).doesNotContain("ncclCommAbort");
    gate.countDown();
    join(abort);
    join(launch);
    assertThat(nccl.calls()).contains("ncclCommAbort");
    assertThat(lane.awaitUnused(LIMIT)).isTrue();
    operation.drop();
  }

  @Test
  void nobodyLaunchesAfterTheEnd() {
    lane.makeNow(LIMIT);
    lane.abort();
    Begun begun = new Begun();
    NcclOperation operation = operation(begun);
    launch(operation);
    assertThat(begun.started.getCount()).isOne();
    assertThat(nccl.calls()).doesNotContain("ncclGroupStart");
    operation.drop();
  }

  @Test
  void nobodyMakesACommunicatorAfterTheEnd() {
    lane.abort();
    Begun begun = new Begun();
    NcclOperation operation = operation(begun);
    launch(operation);
    assertThat(begun.failure(LIMIT)).isInstanceOf(GroupAbortedException.class);
    assertThat(nccl.calls()).doesNotContain("ncclCommInitRankConfig");
    // The resources of the group may have been released by then.
    assertThat(cuda.leaks()).doesNotContain("stream");
    operation.drop();
  }

  @Test
  void onlyTheTimeoutsOfOperationsEndTheMakingForThem() {
    CompletableFuture<Duration> left = new CompletableFuture<>();
    lane =
        new CommunicatorLane(
            nccl,
            device,
            "the communicator of the test",
            false,
            threads,
            () -> false,
            (name, deadline) -> {
              left.complete(deadline.left());
              throw new IllegalStateException("enough");
            });
    Begun begun = new Begun();
    NcclOperation operation = operation(begun);
    launch(operation);
    assertThat(left.join()).isGreaterThan(Duration.ofDays(1000));
    assertThat(begun.failure(LIMIT)).hasMessage("enough");
    operation.drop();
  }

  @Test
  void aCommunicatorIsNotWaitedForLongerThanToldAlsoIfNcclDoesNotComeBack() {
    CountDownLatch gate = nccl.faults().hang("ncclCommInitRankConfig");
    assertThatThrownBy(() -> lane.makeNow(Duration.ofMillis(100)))
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("not come back from making the communicator of the test");
    gate.countDown();
    assertThat(threads.join(LIMIT)).isTrue();
    assertThat(nccl.communicators()).isZero();
  }

  @Test
  void anErrorFailsWhatWaitsForTheCommunicator() {
    nccl.faults()
        .throwFrom("ncclCommInitRankConfig", new NoClassDefFoundError("com.sun.jna.Pointer"));
    Begun begun = new Begun();
    NcclOperation operation = operation(begun);
    launch(operation);
    assertThat(begun.failure(LIMIT)).isInstanceOf(NoClassDefFoundError.class);
    operation.drop();
  }

  @Test
  void anErrorOfALaunchFailsWhatIsLaunched() {
    lane.makeNow(LIMIT);
    nccl.faults().throwFrom("ncclAllReduce", new UnsatisfiedLinkError("ncclAllReduce"));
    Begun begun = new Begun();
    NcclOperation operation = operation(begun, this::emptySum);
    launch(operation);
    assertThat(begun.failure(LIMIT)).isInstanceOf(UnsatisfiedLinkError.class);
    // The thread does not stay inside the group of calls.
    assertThat(nccl.calls()).contains("ncclGroupEnd");
    operation.drop();
  }

  private void launch(NcclOperation operation) {
    lane.add(List.of(operation));
    lane.begin();
  }

  private void awaitCall(String function) {
    Eventually.holds(() -> nccl.calls().contains(function), () -> function + " is not called");
  }

  private static Thread start(Runnable body) {
    Thread thread = new Thread(body);
    thread.start();
    return thread;
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void emptySum(CommunicatorStream target) {
    target.allReduce(DeviceTensor.wrap(device, DType.FLOAT32, 0, 0), ReduceOp.SUM);
  }

  private NcclOperation operation(Begun begun) {
    return operation(begun, target -> {});
  }

  private NcclOperation operation(Begun begun, NcclOperation.Call call) {
    long previous = device.enter();
    try {
      NcclOperation operation =
          new NcclOperation(
              lane, device, events, null, List.of(), call, CudaStream.defaultOf(device).handle());
      operation.begun(begun);
      return operation;
    } finally {
      device.leave(previous);
    }
  }

  private static final class Begun implements BackendOperations.Begun {

    private final CountDownLatch started = new CountDownLatch(1);
    private final CompletableFuture<Throwable> failure = new CompletableFuture<>();

    /** Waits for the failure; returns null if it does not come. */
    Throwable failure(Duration atMost) {
      return failure.completeOnTimeout(null, atMost.toMillis(), TimeUnit.MILLISECONDS).join();
    }

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
      failure.complete(cause);
    }
  }
}
