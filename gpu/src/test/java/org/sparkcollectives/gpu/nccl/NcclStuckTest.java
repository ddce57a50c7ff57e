package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.testing.FakeGpus;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.LeakCheck;

/** Tests groups in which a call of NCCL, or a rank, hangs. */
@ExtendWith(LeakCheck.class)
final class NcclStuckTest {

  private static final NcclTuning SHORT_ABORT =
      NcclTuning.DEFAULT.withAbortTimeout(Duration.ofMillis(300));

  private static final String EAGER = "spark.collectives.gpu.nccl.eager=true";

  @RegisterExtension final FakeGpus gpus = new FakeGpus();

  /** Waits until nothing of NCCL, or of its resources, is left on the GPUs. */
  private void awaitNothingLeft() {
    Eventually.holds(
        () -> gpus.nccl().communicators() == 0 && gpus.cuda().leaks().isEmpty(),
        () -> gpus.nccl().communicators() + " communicators," + gpus.cuda().leaks());
  }

  private static void awaitNoThread(String name) {
    Eventually.holds(
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .noneMatch(each -> each.getName().equals(name)),
        () -> name + " goes on");
  }

  @Test
  void theResourcesOfAStuckLaunchAreReleasedWhenItReturns() {
    gpus.tune(SHORT_ABORT);
    gpus.run(
        1,
        (world, gpu) -> {
          DeviceTensor data = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
          world.allReduce(data, ReduceOp.SUM).await();
          CountDownLatch stuck = gpus.nccl().faults().hang("ncclGroupEnd");
          int before = gpus.nccl().calls().size();
          CompletableFuture<Throwable> end = new CompletableFuture<>();
          Thread launch =
              new Thread(
                  () ->
                      end.complete(
                          catchThrowable(() -> world.allReduce(data, ReduceOp.SUM).await())));
          launch.start();
          Eventually.holds(
              () -> gpus.nccl().calls().stream().skip(before).anyMatch("ncclGroupEnd"::equals),
              () -> "nothing is launched");
          world.abort(new IllegalStateException("enough"));
          world.close();
          assertThat(gpus.cuda().leaks()).contains("stream");
          assertThat(gpus.nccl().calls()).doesNotContain("ncclCommAbort");
          stuck.countDown();
          assertThat(end.join()).hasMessageContaining("enough");
          data.free();
          return null;
        });
    awaitNothingLeft();
  }

  @Test
  void aSplitThatOthersJoinTooLateLeavesNoCommunicator() {
    gpus.tune(SHORT_ABORT);
    CountDownLatch late = gpus.nccl().faults().hang("ncclCommSplit of rank 1");
    CountDownLatch givenUp = new CountDownLatch(2);
    gpus.run(
        2,
        (world, gpu) -> {
          ProcessGroup hasty = world.withTimeout(Duration.ofSeconds(1));
          assertThatThrownBy(() -> hasty.split(0, 0)).isInstanceOf(CollectiveException.class);
          givenUp.countDown();
          assertThat(givenUp.await(60, TimeUnit.SECONDS)).isTrue();
          late.countDown();
          awaitNoThread("collectives-nccl-late-0");
          return null;
        },
        EAGER);
  }

  @Test
  void operationsAfterASplitThatWasGivenUpStartWhenNcclHasFinishedIt() {
    gpus.tune(SHORT_ABORT);
    CountDownLatch late = gpus.nccl().faults().hang("ncclCommSplit of rank 1");
    CyclicBarrier together = new CyclicBarrier(2);
    gpus.run(
        2,
        (world, gpu) -> {
          DeviceTensor data = DeviceTensor.copyOf(gpu, Tensor.of(1f, 2f));
          ProcessGroup hasty = world.withTimeout(Duration.ofSeconds(1));
          together.await(60, TimeUnit.SECONDS);
          assertThatThrownBy(() -> hasty.split(0, 0)).isInstanceOf(CollectiveException.class);
          // Otherwise the call of rank 1 might be resumed before it is given up.
          together.await(60, TimeUnit.SECONDS);
          FutureTask<Work> next = new FutureTask<>(() -> world.allReduce(data, ReduceOp.SUM));
          Thread caller = new Thread(next);
          caller.start();
          if (world.rank() == 0) {
            Eventually.holds(
                () -> caller.getState() == Thread.State.TIMED_WAITING || next.isDone(),
                () -> "the all-reduce is " + caller.getState());
            late.countDown();
          }
          next.get().await();
          assertThat(GpuTensors.floats(data)).containsExactly(2f, 4f);
          ProcessGroup half = world.split(0, 0);
          half.allReduce(data, ReduceOp.SUM).await();
          assertThat(GpuTensors.floats(data)).containsExactly(4f, 8f);
          data.free();
          return null;
        },
        EAGER);
  }

  @Test
  void aSplitAfterOneThatWasGivenUpSaysThatItWaitsForThat() {
    gpus.tune(SHORT_ABORT);
    CountDownLatch late = gpus.nccl().faults().hang("ncclCommSplit of rank 1");
    CyclicBarrier together = new CyclicBarrier(2);
    gpus.run(
        2,
        (world, gpu) -> {
          ProcessGroup hasty = world.withTimeout(Duration.ofSeconds(2));
          assertThatThrownBy(() -> hasty.split(0, 0)).isInstanceOf(CollectiveException.class);
          together.await(60, TimeUnit.SECONDS);
          Throwable second = catchThrowable(() -> hasty.split(0, 0));
          together.await(60, TimeUnit.SECONDS);
          late.countDown();
          if (world.rank() == 0) {
            assertThat(second)
                .hasStackTraceContaining(
                    "The wait for NCCL's earlier split or shrink of the communicator of group");
          }
          return null;
        },
        EAGER);
  }

  @Test
  void aSplitThatIsNeverJoinedLeavesNoCommunicator() {
    gpus.tune(SHORT_ABORT);
    CountDownLatch late = gpus.nccl().faults().hang("ncclCommSplit of rank 1");
    gpus.run(
        2,
        (world, gpu) -> {
          ProcessGroup hasty = world.withTimeout(Duration.ofSeconds(1));
          assertThatThrownBy(() -> hasty.split(0, 0)).isInstanceOf(CollectiveException.class);
          world.close();
          return null;
        },
        EAGER);
    late.countDown();
    awaitNothingLeft();
  }

  @Test
  void anOperationEndsInItsOwnTimeAlsoWhileItsCommunicatorIsCreated() {
    CountDownLatch over = new CountDownLatch(1);
    gpus.run(
        2,
        FakeGpus.options().withTimeout(Duration.ofMinutes(2)),
        (world, gpu) -> {
          if (world.rank() == 1) {
            assertThat(over.await(60, TimeUnit.SECONDS)).isTrue();
            return null;
          }
          DeviceTensor data = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
          ProcessGroup hurried = world.withTimeout(Duration.ofSeconds(1));
          long begin = System.nanoTime();
          assertThatThrownBy(() -> hurried.allReduce(data, ReduceOp.SUM).await())
              .isInstanceOf(CollectiveTimeoutException.class)
              .hasMessageContaining("timed out after 1.0 s: not arrived: rank 1");
          assertThat(Duration.ofNanos(System.nanoTime() - begin))
              .isBetween(Duration.ofSeconds(1), Duration.ofSeconds(20));
          awaitNoThread("collectives-nccl-init-0");
          over.countDown();
          data.free();
          return null;
        });
  }

  @Test
  void onlyTheFirstOperationInProgressIsQueried() {
    gpus.run(
        1,
        (world, gpu) -> {
          DeviceTensor data = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
          world.allReduce(data, ReduceOp.SUM).await();
          CountDownLatch busy;
          long previous = gpu.enter();
          try {
            busy = gpus.cuda().streams().pause(CudaStream.defaultOf(gpu).handle());
          } finally {
            gpu.leave(previous);
          }
          Work last = null;
          try {
            for (int i = 0; i < 100; i++) {
              last = world.allReduce(data, ReduceOp.SUM);
            }
            gpus.cuda().events().queries().clear();
            Eventually.holds(
                () -> gpus.cuda().events().queries().size() > 10, () -> "nobody looks after them");
            assertThat(new HashSet<>(gpus.cuda().events().queries())).hasSize(1);
          } finally {
            busy.countDown();
          }
          Work end = last;
          // Nobody awaits it.
          Eventually.holds(end::isSuccess, () -> "they do not end");
          data.free();
          return null;
        });
  }

  @Test
  void anErrorOfTheLibraryEndsOperationsAndReleasesEverything() {
    gpus.nccl().faults().throwFrom("ncclAllReduce", new UnsatisfiedLinkError("ncclAllReduce"));
    expectEnd("ncclAllReduce");
  }

  @Test
  void anErrorWhileACommunicatorIsCreatedEndsOperationsAndReleasesEverything() {
    gpus.nccl()
        .faults()
        .throwFrom("ncclCommInitRankConfig", new UnsatisfiedLinkError("of the test"));
    expectEnd("of the test");
  }

  @Test
  void anErrorOfTheWatchdogEndsOperationsAndReleasesEverything() {
    gpus.nccl()
        .faults()
        .throwFrom("ncclCommGetAsyncError", new UnsatisfiedLinkError("of the watchdog"));
    expectEnd("of the watchdog");
  }

  private void expectEnd(String cause) {
    gpus.run(
        2,
        FakeGpus.options().withTimeout(Duration.ofSeconds(20)),
        (world, gpu) -> {
          DeviceTensor data = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
          assertThatThrownBy(() -> world.allReduce(data, ReduceOp.SUM).await())
              .isInstanceOf(CollectiveException.class)
              .hasStackTraceContaining("UnsatisfiedLinkError: " + cause);
          data.free();
          return null;
        });
  }

  @Test
  void anErrorWhileAGroupIsCreatedReleasesEverything() {
    gpus.nccl().faults().throwFrom("ncclGetUniqueId", new UnsatisfiedLinkError("ncclGetUniqueId"));
    gpus.expectNoGroup(
        List.of(0), failure -> assertThat(failure).isInstanceOf(UnsatisfiedLinkError.class), EAGER);
  }
}
