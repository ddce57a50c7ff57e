package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.Coalescing;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.testing.FakeGpus;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.LeakCheck;

/** Tests when groups create communicators, and from what, over fakes of the driver and of NCCL. */
@ExtendWith(LeakCheck.class)
class NcclCommunicatorsTest {

  @RegisterExtension final FakeGpus gpus = new FakeGpus();

  @Test
  void manyRanksHaveSeveralRoots() {
    gpus.tune(NcclTuning.DEFAULT.withRanksPerRoot(2));
    gpus.run(
        5,
        (world, gpu) -> {
          try (GpuTensors tensors = new GpuTensors(gpu)) {
            DeviceTensor data = tensors.of(1f);
            world.allReduce(data, ReduceOp.SUM).await();
            assertThat(GpuTensors.floats(data)).containsExactly(5);
          }
          return null;
        });
    assertThat(gpus.nccl().calls().stream().filter("ncclGetUniqueId"::equals)).hasSize(3);
    assertThat(gpus.nccl().calls().stream().filter("ncclCommInitRankScalable"::equals)).hasSize(5);
  }

  @Test
  void anEagerGroupHasItsCommunicatorFromTheStart() {
    gpus.run(
        2,
        (world, gpu) -> {
          assertThat(gpus.nccl().communicators()).isPositive();
          return null;
        },
        "spark.collectives.gpu.nccl.eager=true");
    assertThat(gpus.nccl().calls().stream().filter("ncclCommInitRankConfig"::equals)).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void groupsMadeFromAnEagerOneHaveTheirCommunicatorsOutOfIts(boolean eager) {
    gpus.run(
        4,
        (world, gpu) -> {
          try (GpuTensors tensors = new GpuTensors(gpu)) {
            DeviceTensor data = tensors.of(1f);
            try (ProcessGroup half = world.split(world.rank() % 2, -world.rank())) {
              assertThat(half.rank()).isEqualTo(world.rank() < 2 ? 1 : 0);
              half.allReduce(data, ReduceOp.SUM).await();
              DeviceTensor root = tensors.of(world.rank());
              half.broadcast(root, 0).await();
              assertThat(GpuTensors.floats(root)).containsExactly(2 + world.rank() % 2);
            }
            assertThat(GpuTensors.floats(data)).containsExactly(2);
            // Rank 3 is in no new group, but takes part in the split.
            ProcessGroup three = world.newGroup(0, 1, 2);
            if (three != null) {
              three.allReduce(data, ReduceOp.SUM).await();
              assertThat(GpuTensors.floats(data)).containsExactly(6);
              three.close();
            }
            if (world.rank() != 1) {
              ProcessGroup rest = world.shrink(1);
              rest.allReduce(data, ReduceOp.MAX).await();
              assertThat(GpuTensors.floats(data)).containsExactly(6);
              rest.close();
            }
            world.barrier().await();
          }
          return null;
        },
        "spark.collectives.gpu.nccl.eager=" + eager);
    List<String> calls = gpus.nccl().calls();
    assertThat(calls.stream().filter("ncclCommSplit"::equals)).hasSize(eager ? 8 : 0);
    assertThat(calls.stream().filter("ncclCommShrink"::equals)).hasSize(eager ? 3 : 0);
  }

  @Test
  void whoIsInNoneOfTheGroupsMadeForHostMemoryHasNoPartInThem() {
    gpus.run(
        3,
        (world, gpu) -> {
          ProcessGroup two =
              world.newGroup(GroupOptions.defaults().withRanks(0, 1).withBackend("cpu:netty"));
          assertThat(two == null).isEqualTo(world.rank() == 2);
          if (two != null) {
            two.close();
          }
          return null;
        },
        "spark.collectives.gpu.nccl.eager=true");
    assertThat(gpus.nccl().calls()).doesNotContain("ncclCommSplit");
  }

  @Test
  void aGroupThatUsesNoGpuMakesNoCommunicator() {
    gpus.run(
        2,
        (world, gpu) -> {
          Coalescing block = world.coalesce();
          try (block) {
            world.allReduce(Tensor.of(1f), ReduceOp.SUM);
          }
          block.work().await();
          return null;
        });
    assertThat(gpus.nccl().calls()).isEmpty();
  }

  @Test
  void aGroupWithOperationsUnderWayIsShrunkByAnotherCommunicator() {
    CountDownLatch over = new CountDownLatch(2);
    gpus.run(
        3,
        (world, gpu) -> {
          try (GpuTensors tensors = new GpuTensors(gpu)) {
            if (world.rank() == 2) {
              assertThat(over.await(60, TimeUnit.SECONDS)).isTrue();
              return null;
            }
            // Rank 2 never joins.
            Work hangs = world.allReduce(tensors.of(1f), ReduceOp.SUM);
            ProcessGroup rest = world.shrink(2);
            DeviceTensor data = tensors.of(1f);
            rest.allReduce(data, ReduceOp.SUM).await();
            assertThat(GpuTensors.floats(data)).containsExactly(2);
            rest.close();
            assertThat(hangs.isCompleted()).isFalse();
            over.countDown();
            assertThat(over.await(60, TimeUnit.SECONDS)).isTrue();
            world.abort(new IllegalStateException("enough"));
            return null;
          }
        },
        "spark.collectives.gpu.nccl.eager=true");
    assertThat(gpus.nccl().calls()).doesNotContain("ncclCommShrink");
  }

  @Test
  void aSplitBeginsWhenTheOperationsUnderWayAreDone() {
    gpus.run(
        1,
        (world, gpu) -> {
          try (GpuTensors tensors = new GpuTensors(gpu)) {
            DeviceTensor data = tensors.of(1f);
            CountDownLatch busy;
            long previous = gpu.enter();
            try {
              busy = gpus.cuda().streams().pause(CudaStream.defaultOf(gpu).handle());
            } finally {
              gpu.leave(previous);
            }
            Work first = world.allReduce(data, ReduceOp.SUM);
            CompletableFuture<ProcessGroup> split =
                CompletableFuture.supplyAsync(() -> world.split(0, 0));
            Eventually.holds(
                () ->
                    Thread.getAllStackTraces().values().stream()
                        .flatMap(Arrays::stream)
                        .anyMatch(
                            frame ->
                                (frame.getClassName() + "#" + frame.getMethodName())
                                    .endsWith(".CommunicatorQueue#awaitStreamIdle")),
                () -> "nobody waits");
            assertThat(first.isCompleted()).isFalse();
            assertThat(gpus.nccl().calls()).doesNotContain("ncclCommSplit");
            busy.countDown();
            split.join().close();
            assertThat(first.isSuccess()).isTrue();
          }
          return null;
        },
        "spark.collectives.gpu.nccl.eager=true");
    assertThat(gpus.nccl().calls()).contains("ncclCommSplit");
  }
}
