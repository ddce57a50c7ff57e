package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.DType;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.testing.FakeGpus;
import org.sparkcollectives.testing.LeakCheck;

/**
 * Tests the ends of operations between GPUs that cannot succeed, over fakes of the driver and of
 * NCCL.
 */
@ExtendWith(LeakCheck.class)
class NcclFailuresTest {

  private static final int NCCL_REMOTE_ERROR = 6;

  @RegisterExtension final FakeGpus gpus = new FakeGpus();

  @RepeatedTest(3)
  void aRankThatDoesNotComeIsNamedAtTheDeadline() {
    CountDownLatch over = new CountDownLatch(1);
    List<Throwable> ends =
        gpus.run(
            2,
            (world, gpu) -> {
              DeviceTensor data = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
              try {
                world.allReduce(data, ReduceOp.SUM).await();
                if (world.rank() == 1) {
                  over.await(60, TimeUnit.SECONDS);
                  return null;
                }
                ProcessGroup hasty = world.withTimeout(Duration.ofMillis(700));
                Work late = hasty.allReduce(data, ReduceOp.SUM);
                Throwable end = catchThrowable(late::await);
                assertThat(late.isSuccess()).isFalse();
                over.countDown();
                return end;
              } finally {
                data.free();
              }
            });
    assertThat(ends.get(0))
        .isInstanceOf(CollectiveTimeoutException.class)
        .hasMessageContaining("all-reduce #1 (float32 x 8, SUM)")
        .hasMessageContaining("rank 1");
    assertThat(gpus.nccl().calls()).contains("ncclCommAbort");
  }

  @Test
  void aRankThatNeverJoinsTheCommunicatorIsFoundOutByTheDeadline() {
    CountDownLatch over = new CountDownLatch(1);
    gpus.run(
        2,
        (world, gpu) -> {
          if (world.rank() == 0) {
            DeviceTensor data = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
            ProcessGroup hasty = world.withTimeout(Duration.ofMillis(500));
            assertThatThrownBy(() -> hasty.allReduce(data, ReduceOp.SUM).await())
                .isInstanceOf(CollectiveTimeoutException.class)
                .hasMessageContaining("all-reduce #0")
                .hasMessageContaining("not arrived: rank 1");
            over.countDown();
            data.free();
          } else {
            over.await(60, TimeUnit.SECONDS);
          }
          return null;
        });
  }

  @RepeatedTest(3)
  void anExceptionOfOneRankReachesTheOthersThatWaitForTheirGpu() {
    CyclicBarrier together = new CyclicBarrier(3);
    List<Throwable> ends =
        gpus.run(
            3,
            (world, gpu) -> {
              DeviceTensor data = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
              try {
                world.allReduce(data, ReduceOp.SUM).await();
                together.await(60, TimeUnit.SECONDS);
                if (world.rank() == 2) {
                  world.abort(new IllegalArgumentException("bad row 17"));
                  return null;
                }
                return catchThrowable(() -> world.allReduce(data, ReduceOp.SUM).await());
              } finally {
                data.free();
              }
            });
    for (Throwable end : ends.subList(0, 2)) {
      assertThat(end)
          .isInstanceOf(PeerFailedException.class)
          .hasMessageContaining("rank 2")
          .hasMessageContaining("bad row 17");
    }
  }

  @Test
  void anErrorThatNcclReportsEndsTheGroupOnAllRanks() {
    CyclicBarrier together = new CyclicBarrier(2);
    List<Throwable> ends =
        gpus.run(
            2,
            (world, gpu) -> {
              DeviceTensor data = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
              try {
                world.allReduce(data, ReduceOp.SUM).await();
                together.await(60, TimeUnit.SECONDS);
                if (world.rank() == 1) {
                  gpus.nccl().injectError(1, NCCL_REMOTE_ERROR);
                }
                // Rank 1 has an error although no operation is in progress; rank 0 waits for it.
                return world.rank() == 0
                    ? catchThrowable(() -> world.allReduce(data, ReduceOp.SUM).await())
                    : catchThrowable(() -> world.recv(data, 0, 0).await());
              } finally {
                data.free();
              }
            });
    assertThat(ends)
        .allSatisfy(
            end ->
                assertThat(end)
                    .isInstanceOf(CollectiveException.class)
                    .hasMessageContaining("rank 1"));
    assertThat(ends.get(1)).hasStackTraceContaining("remote process exited");
  }

  @Test
  void anErrorOfNcclForALostPeerWaitsForThePeersOwnFailure() {
    CyclicBarrier together = new CyclicBarrier(3);
    List<Throwable> ends =
        gpus.run(
            3,
            (world, gpu) -> {
              DeviceTensor data = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
              try {
                world.allReduce(data, ReduceOp.SUM).await();
                together.await(60, TimeUnit.SECONDS);
                if (world.rank() == 2) {
                  gpus.nccl().injectError(0, NCCL_REMOTE_ERROR);
                  gpus.nccl().injectError(1, NCCL_REMOTE_ERROR);
                  // The failure is published after NCCL notices the end, but within the second that
                  // the others wait for it.
                  assertThat(new CountDownLatch(1).await(250, TimeUnit.MILLISECONDS)).isFalse();
                  world.abort(new IllegalArgumentException("bad row 17"));
                  return null;
                }
                return catchThrowable(() -> world.allReduce(data, ReduceOp.SUM).await());
              } finally {
                data.free();
              }
            });
    for (Throwable end : ends.subList(0, 2)) {
      assertThat(end)
          .isInstanceOf(PeerFailedException.class)
          .hasMessageContaining("rank 2")
          .hasMessageContaining("bad row 17");
    }
  }

  @Test
  void anErrorOfTheGpuEndsTheGroup() {
    gpus.run(
        1,
        (world, gpu) -> {
          DeviceTensor data = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
          world.allReduce(data, ReduceOp.SUM).await();
          gpus.cuda().events().failQueries(700);
          assertThatThrownBy(() -> world.allReduce(data, ReduceOp.SUM).await())
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("700");
          gpus.cuda().events().failQueries(0);
          world.close();
          data.free();
          return null;
        });
  }

  @Test
  void aStreamThatCannotBeDestroyedKeepsNoOther() {
    gpus.run(
        2,
        (world, gpu) -> {
          DeviceTensor data = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
          (world.rank() == 0 ? world.send(data, 1, 0) : world.recv(data, 0, 0)).await();
          world.allReduce(data, ReduceOp.SUM).await();
          data.free();
          gpus.cuda().streams().failNextDestruction();
          return null;
        });
  }

  @Test
  void anAbortThatHangsDoesNotHoldUpTheTask() {
    gpus.tune(NcclTuning.DEFAULT.withAbortTimeout(Duration.ofMillis(300)));
    CyclicBarrier together = new CyclicBarrier(2);
    long begin = System.nanoTime();
    gpus.run(
        2,
        (world, gpu) -> {
          DeviceTensor data = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
          world.allReduce(data, ReduceOp.SUM).await();
          together.await(60, TimeUnit.SECONDS);
          gpus.nccl().faults().hangAborts(true);
          world.abort(new IllegalStateException("enough"));
          world.close();
          data.free();
          return null;
        });
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(60));
    gpus.nccl().faults().hangAborts(false);
    gpus.expectLeaks();
  }

  @Test
  void anExtendedTimeoutHoldsForOperationsOnGpus() {
    gpus.run(
        2,
        (world, gpu) -> {
          DeviceTensor data = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
          world.allReduce(data, ReduceOp.SUM).await();
          world.extendTimeout(Duration.ofMinutes(1));
          CountDownLatch gate = null;
          if (world.rank() == 1) {
            gate = new CountDownLatch(1);
            assertThat(gate.await(1500, TimeUnit.MILLISECONDS)).isFalse();
          }
          world.withTimeout(Duration.ofSeconds(1)).allReduce(data, ReduceOp.SUM).await();
          data.free();
          return null;
        });
  }

  @Test
  void withoutErrorHandlingAFailureDoesNotReachTheOthers() {
    CountDownLatch over = new CountDownLatch(1);
    List<Throwable> ends =
        gpus.run(
            2,
            FakeGpus.options().withErrorHandling(ErrorHandling.NONE),
            (world, gpu) -> {
              DeviceTensor data = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
              ProcessGroup hasty = world.withTimeout(Duration.ofSeconds(1));
              try {
                world.allReduce(data, ReduceOp.SUM).await();
                if (world.rank() == 1) {
                  over.await(60, TimeUnit.SECONDS);
                  float[] host = {1};
                  return catchThrowable(
                      () ->
                          hasty
                              .allReduce(org.sparkcollectives.Tensor.of(host), ReduceOp.SUM)
                              .await());
                }
                Throwable end = catchThrowable(() -> hasty.allReduce(data, ReduceOp.SUM).await());
                over.countDown();
                return end;
              } finally {
                data.free();
              }
            });
    assertThat(ends.get(0)).isInstanceOf(CollectiveTimeoutException.class);
    // It finds out by its own deadline, or through its own communicator.
    assertThat(ends.get(1)).isInstanceOf(CollectiveException.class);
  }

  @Test
  void twoRanksOnOneGpuAreNamedBeforeNcclIsCalled() {
    gpus.expectNoGroup(
        List.of(0, 3, 3),
        failure ->
            assertThat(failure)
                .hasMessageContaining("Ranks 1 (")
                .hasMessageContaining("and 2 (")
                .hasMessageContaining("same GPU, GPU-00000000-0000-0000-0000-000000000003"));
    assertThat(gpus.nccl().calls()).isEmpty();
  }

  @Test
  void aGpuThatIsNotThereIsRefused() {
    gpus.expectNoGroup(
        List.of(8), failure -> assertThat(failure).hasMessageContaining("There is no GPU 8"));
  }
}
