package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.DebugLevel;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.testing.FakeGpus;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.LeakCheck;

/** Tests how long a comparison of calls waits with DETAIL, and what ends the wait. */
@ExtendWith(LeakCheck.class)
class NcclDetailWaitTest {

  @RegisterExtension final FakeGpus gpus = new FakeGpus();

  private static GroupOptions detail() {
    return FakeGpus.options().withDebugLevel(DebugLevel.DETAIL);
  }

  @Test
  void aRankThatDoesNotComeIsNamedAtTheDeadlineOfTheOperation() {
    CountDownLatch over = new CountDownLatch(2);
    CyclicBarrier together = new CyclicBarrier(2);
    gpus.run(
        3,
        detail().withTimeout(Duration.ofMinutes(5)),
        (world, gpu) -> {
          DeviceTensor tensor = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
          world.allReduce(tensor, ReduceOp.SUM).await();
          if (world.rank() == 2) {
            over.await(60, TimeUnit.SECONDS);
          } else {
            together.await(60, TimeUnit.SECONDS);
            Work late = world.withTimeout(Duration.ofMillis(700)).allReduce(tensor, ReduceOp.SUM);
            assertThat(late.isCompleted()).isTrue();
            Throwable end = catchThrowable(late::await);
            if (world.rank() == 0) {
              assertThat(end)
                  .isInstanceOf(CollectiveException.class)
                  .hasMessageContaining("all-reduce #1 (float32 x 8, SUM)")
                  .hasMessageContaining("rank 2");
            }
            over.countDown();
          }
          tensor.free();
          return null;
        });
  }

  @Test
  void aComparisonThatWaitsEndsWhenAPeerFails() throws Exception {
    CyclicBarrier together = new CyclicBarrier(2);
    List<Throwable> ends =
        gpus.run(
            2,
            detail().withTimeout(Duration.ofMinutes(5)),
            (world, gpu) -> {
              DeviceTensor tensor = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
              try {
                world.allReduce(tensor, ReduceOp.SUM).await();
                together.await(60, TimeUnit.SECONDS);
                if (world.rank() == 1) {
                  world.abort(new IllegalArgumentException("bad row 17"));
                  return null;
                }
                return catchThrowable(() -> world.allReduce(tensor, ReduceOp.SUM).await());
              } finally {
                tensor.free();
              }
            });
    assertThat(ends.get(0))
        .isInstanceOf(PeerFailedException.class)
        .hasMessageContaining("bad row 17");
  }

  @Test
  void aComparisonThatWaitsForAnOperationInHostMemoryEndsWithTheGroup() {
    AtomicReference<ProcessGroup> waiting = new AtomicReference<>();
    gpus.run(
        2,
        detail().withTimeout(Duration.ofMinutes(5)),
        (world, gpu) -> {
          if (world.rank() == 1) {
            Eventually.holds(
                () -> waiting.get() != null && waiting.get().flightRecorder().records().size() == 2,
                () -> "rank 0 has not called both");
            world.abort(new IllegalArgumentException("bad row 17"));
            return null;
          }
          waiting.set(world);
          DeviceTensor tensor = DeviceTensor.allocate(gpu, DType.FLOAT32, 8);
          // The comparison starts only when this operation is done.
          Work before = world.allReduce(Tensor.of(1f), ReduceOp.SUM);
          Work work = world.allReduce(tensor, ReduceOp.SUM);
          assertThatThrownBy(before::await).isInstanceOf(PeerFailedException.class);
          assertThatThrownBy(work::await)
              .isInstanceOf(PeerFailedException.class)
              .hasMessageContaining("all-reduce #1 (float32 x 8, SUM)")
              .hasMessageContaining("bad row 17");
          tensor.free();
          return null;
        });
    assertThat(gpus.nccl().calls()).doesNotContain("ncclGroupStart");
  }

  @Test
  void aMessageOfAnotherThreadGoesOnWhileTheRanksCompare() {
    gpus.run(
        2,
        detail().withTimeout(Duration.ofSeconds(10)),
        (world, gpu) -> {
          DeviceTensor sum = DeviceTensor.copyOf(gpu, Tensor.of(1f));
          DeviceTensor message = DeviceTensor.copyOf(gpu, Tensor.of(5f));
          if (world.rank() == 0) {
            CompletableFuture<Void> collective =
                CompletableFuture.runAsync(() -> world.allReduce(sum, ReduceOp.SUM).await());
            Eventually.holds(
                () -> world.flightRecorder().records().size() == 1,
                () -> "the collective was not called");
            // Rank 1 calls the collective only after this.
            world.send(message, 1, 0).await();
            collective.get(60, TimeUnit.SECONDS);
          } else {
            world.recv(message, 0, 0).await();
            world.allReduce(sum, ReduceOp.SUM).await();
          }
          sum.free();
          message.free();
          return null;
        });
  }
}
