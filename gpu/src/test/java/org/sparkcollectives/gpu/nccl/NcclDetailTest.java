package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.Coalescing;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.DebugLevel;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.P2POp;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.testing.EveryCollective;
import org.sparkcollectives.gpu.testing.FakeGpus;
import org.sparkcollectives.testing.LeakCheck;

/** Tests that with DETAIL the ranks compare their calls before NCCL is called, which would hang. */
@ExtendWith(LeakCheck.class)
class NcclDetailTest {

  @RegisterExtension final FakeGpus gpus = new FakeGpus();

  private static GroupOptions detail() {
    return FakeGpus.options().withDebugLevel(DebugLevel.DETAIL);
  }

  /** Starts an operation on parts of a tensor of 16 float32 elements. */
  private interface Body {
    Work begin(ProcessGroup group, DeviceTensor tensor);
  }

  private record Call(String text, Body body) {}

  private static List<Tensor> parts(DeviceTensor tensor, int... counts) {
    Tensor[] parts = new Tensor[counts.length];
    long at = 0;
    for (int i = 0; i < counts.length; i++) {
      parts[i] = tensor.slice(at, counts[i]);
      at += counts[i];
    }
    return List.of(parts);
  }

  static Stream<Arguments> callsThatDoNotBelongTogether() {
    Call sum =
        new Call(
            "all-reduce #1 of float32 [16] on cuda, SUM", (g, t) -> g.allReduce(t, ReduceOp.SUM));
    return Stream.of(
        Arguments.of(
            sum,
            new Call(
                "all-reduce #1 of float32 [16] on cuda, MAX",
                (g, t) -> g.allReduce(t, ReduceOp.MAX))),
        Arguments.of(
            sum,
            new Call(
                "all-reduce #1 of float32 [3] on cuda, SUM",
                (g, t) -> g.allReduce(t.slice(0, 3), ReduceOp.SUM))),
        Arguments.of(
            sum,
            new Call(
                "all-reduce #1 of int32 [16] on cuda, SUM",
                (g, t) ->
                    g.allReduce(
                        DeviceTensor.wrap(t.gpu(), DType.INT32, t.address(), t.count()),
                        ReduceOp.SUM))),
        Arguments.of(
            sum,
            new Call(
                "reduce #1 of float32 [16] on cuda, SUM, root 1",
                (g, t) -> g.reduce(t, ReduceOp.SUM, 1))),
        Arguments.of(sum, new Call("barrier #1", (g, t) -> g.barrier())),
        Arguments.of(
            sum,
            new Call(
                "all-reduce #1 of float32 [16], SUM",
                (g, t) -> g.allReduce(Tensor.of(new float[16]), ReduceOp.SUM))),
        Arguments.of(
            sum,
            new Call(
                "all-reduce-coalesced #1 of float32 [9] [7] on cuda, SUM",
                (g, t) -> g.allReduceCoalesced(parts(t, 9, 7), ReduceOp.SUM))),
        Arguments.of(
            new Call("broadcast #1 of float32 [16] on cuda, root 0", (g, t) -> g.broadcast(t, 0)),
            new Call("broadcast #1 of float32 [16] on cuda, root 2", (g, t) -> g.broadcast(t, 2))),
        Arguments.of(
            new Call(
                "all-gather #1 of float32 [1] [2] [3] [4] on cuda",
                (g, t) -> g.allGather(parts(t, 1, 2, 3, 4), t.slice(12, g.rank() + 1))),
            new Call(
                "all-gather #1 of float32 [2] [2] [3] [5] on cuda",
                (g, t) -> g.allGather(parts(t, 2, 2, 3, 5), t.slice(12, 3)))));
  }

  @ParameterizedTest
  @MethodSource("callsThatDoNotBelongTogether")
  void aMismatchFailsEveryRankNamingBothCallsAndNcclIsNotCalled(Call usual, Call odd) {
    gpus.run(
        4,
        detail(),
        (world, gpu) -> {
          DeviceTensor tensor = DeviceTensor.allocate(gpu, DType.FLOAT32, 16);
          world.barrier().await();
          Work work = (world.rank() == 2 ? odd : usual).body.begin(world, tensor);
          assertThatThrownBy(work::await)
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("rank 0 calls " + usual.text + "\n")
              .hasMessageContaining("rank 2 calls " + odd.text + "\n")
              .hasMessageContaining("3 of 4 ranks call the first");
          assertThat(work.isSuccess()).isFalse();
          tensor.free();
          return null;
        });
    // One for the barrier of each rank.
    assertThat(gpus.nccl().calls().stream().filter("ncclGroupStart"::equals)).hasSize(4);
  }

  @Test
  void partsThatDoNotFitAreNamedWithBothSides() {
    gpus.run(
        3,
        detail(),
        (world, gpu) -> {
          DeviceTensor in = DeviceTensor.allocate(gpu, DType.FLOAT32, 6);
          DeviceTensor out = DeviceTensor.allocate(gpu, DType.FLOAT32, 6);
          long[] splits = {2, 2, 2};
          long[] expected = world.rank() == 2 ? new long[] {3, 1, 2} : splits;
          assertThatThrownBy(() -> world.allToAll(out, in, expected, splits).await())
              .hasMessageContaining("Ranks give different sizes in all-to-all #0 of float32")
              .hasMessageContaining("rank 0 sends 2 elements to rank 2\n")
              .hasMessageContaining("rank 2 expects 3 elements from rank 0");
          in.free();
          out.free();
          return null;
        });
  }

  @Test
  void aRootThatExpectsOtherPartsThanItIsSentIsNamed() {
    gpus.run(
        2,
        detail(),
        (world, gpu) -> {
          DeviceTensor tensor = DeviceTensor.allocate(gpu, DType.FLOAT32, 9);
          List<Tensor> outputs = world.rank() == 0 ? parts(tensor, 5, 4) : List.of();
          assertThatThrownBy(() -> world.gather(outputs, tensor.slice(0, 5), 0).await())
              .hasMessageContaining("rank 1 sends 5 elements to rank 0\n")
              .hasMessageContaining("rank 0 expects 4 elements from rank 1");
          tensor.free();
          return null;
        });
  }

  @Test
  void aBlockIsComparedCallByCallAndAMismatchInItLaunchesNothing() {
    gpus.run(
        2,
        detail(),
        (world, gpu) -> {
          DeviceTensor a = DeviceTensor.allocate(gpu, DType.FLOAT32, 4);
          DeviceTensor b = DeviceTensor.allocate(gpu, DType.FLOAT32, 4);
          Coalescing block = world.coalesce();
          Work second;
          try (block) {
            world.allReduce(a, ReduceOp.SUM);
            second = world.broadcast(b, world.rank());
          }
          assertThatThrownBy(second::await)
              .hasMessageContaining("rank 0 calls broadcast #1 of float32 [4] on cuda, root 0\n")
              .hasMessageContaining("rank 1 calls broadcast #1 of float32 [4] on cuda, root 1\n");
          assertThatThrownBy(() -> block.work().await()).isInstanceOf(CollectiveException.class);
          a.free();
          b.free();
          return null;
        });
  }

  @Test
  void messagesAndBatchesAreNotCompared() {
    gpus.run(
        3,
        detail(),
        (world, gpu) -> {
          DeviceTensor value = DeviceTensor.copyOf(gpu, Tensor.of((float) world.rank()));
          DeviceTensor other = DeviceTensor.allocate(gpu, DType.FLOAT32, 1);
          // Rank 2 takes no part in the message; it could not take part in a comparison either.
          if (world.rank() < 2) {
            (world.rank() == 0 ? world.send(value, 1, 0) : world.recv(other, 0, 0)).await();
          }
          int next = (world.rank() + 1) % 3;
          int previous = (world.rank() + 2) % 3;
          world
              .batch(List.of(P2POp.send(value, next, 0), P2POp.recv(other, previous, 0)))
              .forEach(Work::await);
          float[] got = new float[1];
          other.copyTo(got);
          assertThat(got).containsExactly(previous);
          value.free();
          other.free();
          return null;
        });
  }

  @Test
  void whatBelongsTogetherIsDoneInOneSequenceWithHostMemory() {
    gpus.run(
        3,
        detail(),
        (world, gpu) -> {
          try (CudaDevice same = CudaDevice.open(gpu.cuda(), gpu.ordinal())) {
            new EveryCollective(world, same, false).run();
          }
          float[] host = {1};
          DeviceTensor device = DeviceTensor.copyOf(gpu, Tensor.of(1f));
          Work first = world.allReduce(Tensor.of(host), ReduceOp.SUM);
          Work second = world.allReduce(device, ReduceOp.premulSum(world.rank()));
          second.await();
          first.await();
          float[] sum = new float[1];
          device.copyTo(sum);
          assertThat(host).containsExactly(3);
          assertThat(sum).containsExactly(3);
          assertThat(second.sequenceNumber()).isEqualTo(first.sequenceNumber() + 1);
          device.free();
          return null;
        });
    gpus.cuda().awaitNothingLeftAfterCollection();
  }
}
