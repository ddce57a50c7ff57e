package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.Coalescing;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.OpType;
import org.sparkcollectives.P2POp;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.testing.FakeGpus;
import org.sparkcollectives.testing.LeakCheck;

/** What each operation between GPUs does, over fakes of the driver and of NCCL. */
@ExtendWith(LeakCheck.class)
class NcclCollectivesTest {

  @RegisterExtension final FakeGpus gpus = new FakeGpus();

  /** Tensors that are freed at the end. */
  private static final class Tensors implements AutoCloseable {
    private final CudaDevice gpu;
    private final List<DeviceTensor> all = new ArrayList<>();

    Tensors(CudaDevice gpu) {
      this.gpu = gpu;
    }

    DeviceTensor of(Tensor host) {
      DeviceTensor made = DeviceTensor.copyOf(gpu, host);
      all.add(made);
      return made;
    }

    DeviceTensor of(float... values) {
      return of(Tensor.of(values));
    }

    @Override
    public void close() {
      all.forEach(DeviceTensor::free);
    }
  }

  private static float[] floats(DeviceTensor tensor) {
    float[] values = new float[(int) tensor.count()];
    tensor.copyTo(values);
    return values;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void anAllReduceSumsOnAllRanks(int size) {
    List<float[]> results =
        gpus.run(
            size,
            (world, gpu) -> {
              try (Tensors tensors = new Tensors(gpu)) {
                DeviceTensor data = tensors.of(world.rank() + 1, 10);
                Work work = world.allReduce(data, ReduceOp.SUM);
                work.await();
                assertThat(work.opType()).isEqualTo(OpType.ALL_REDUCE);
                assertThat(work.isSuccess()).isTrue();
                assertThat(work.durationMillis()).isPresent();
                return floats(data);
              }
            });
    float sum = size * (size + 1) / 2f;
    assertThat(results).allSatisfy(each -> assertThat(each).containsExactly(sum, 10f * size));
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"INT16", "FLOAT8_E4M3", "FLOAT8_E5M2"},
      mode = EnumSource.Mode.EXCLUDE)
  void eachTypeIsSummed(DType dtype) {
    gpus.run(
        2,
        (world, gpu) -> {
          try (Tensors tensors = new Tensors(gpu)) {
            Tensor one = Tensor.allocate(dtype, 3);
            Tensor two = Tensor.allocate(dtype, 3);
            byte[] ones = new byte[3 * dtype.bytes()];
            if (dtype == DType.BOOL) {
              one.copyFrom(new byte[] {1, 0, (byte) world.rank()});
              two.copyFrom(new byte[] {1, 0, 1});
            } else {
              assertThat(ones).isNotEmpty();
              fill(one, 1);
              fill(two, 2);
            }
            DeviceTensor data = tensors.of(one);
            world.allReduce(data, ReduceOp.SUM).await();
            Tensor result = Tensor.allocate(dtype, 3);
            result.copyFrom(data);
            assertThat(bytes(result)).isEqualTo(bytes(two));
          }
          return null;
        });
  }

  private static void fill(Tensor tensor, int value) {
    Object array = tensor.array();
    for (int i = 0; i < java.lang.reflect.Array.getLength(array); i++) {
      switch (tensor.dtype()) {
        case FLOAT32, COMPLEX64 -> ((float[]) array)[i] = value;
        case FLOAT64, COMPLEX128 -> ((double[]) array)[i] = value;
        case INT32 -> ((int[]) array)[i] = value;
        case INT64 -> ((long[]) array)[i] = value;
        case FLOAT16 -> ((short[]) array)[i] = (short) (value == 1 ? 0x3c00 : 0x4000);
        case BFLOAT16 -> ((short[]) array)[i] = (short) (value == 1 ? 0x3f80 : 0x4000);
        default -> ((byte[]) array)[i] = (byte) value;
      }
    }
  }

  private static List<Object> bytes(Tensor tensor) {
    Object array = tensor.array();
    return IntStream.range(0, java.lang.reflect.Array.getLength(array))
        .mapToObj(i -> java.lang.reflect.Array.get(array, i))
        .toList();
  }

  @Test
  void aReductionIsWhatItsNameSays() {
    gpus.run(
        3,
        (world, gpu) -> {
          try (Tensors tensors = new Tensors(gpu)) {
            float own = world.rank() + 1;
            DeviceTensor average = tensors.of(own);
            DeviceTensor product = tensors.of(own);
            DeviceTensor least = tensors.of(own);
            DeviceTensor most = tensors.of(own);
            DeviceTensor weighted = tensors.of(own);
            world.allReduce(average, ReduceOp.AVG).await();
            world.allReduce(product, ReduceOp.PRODUCT).await();
            world.allReduce(least, ReduceOp.MIN).await();
            world.allReduce(most, ReduceOp.MAX).await();
            world.allReduce(weighted, ReduceOp.premulSum(0.5 * own)).await();
            assertThat(floats(average)).containsExactly(2);
            assertThat(floats(product)).containsExactly(6);
            assertThat(floats(least)).containsExactly(1);
            assertThat(floats(most)).containsExactly(3);
            assertThat(floats(weighted)).containsExactly(7);
          }
          return null;
        });
  }

  @Test
  void whatNcclCannotReduceIsRefusedBeforeAnythingMoves() {
    gpus.run(
        1,
        (world, gpu) -> {
          try (Tensors tensors = new Tensors(gpu)) {
            DeviceTensor shorts = tensors.of(Tensor.of(new short[] {1}));
            DeviceTensor ints = tensors.of(Tensor.of(1));
            assertThatThrownBy(() -> world.allReduce(shorts, ReduceOp.SUM))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("int16");
            assertThatThrownBy(() -> world.allReduce(ints, ReduceOp.BAND))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("BAND");
            assertThatThrownBy(() -> world.recvAny(ints, 0))
                .isInstanceOf(IllegalArgumentException.class);
            Work work = world.allReduce(ints, ReduceOp.SUM);
            work.await();
            assertThat(work.sequenceNumber()).isZero();
          }
          return null;
        });
  }

  @Test
  void reduceAndBroadcastHaveARoot() {
    gpus.run(
        3,
        (world, gpu) -> {
          try (Tensors tensors = new Tensors(gpu)) {
            DeviceTensor reduced = tensors.of(world.rank() + 1);
            world.reduce(reduced, ReduceOp.SUM, 1).await();
            assertThat(floats(reduced)).containsExactly(world.rank() == 1 ? 6 : world.rank() + 1);
            DeviceTensor broadcast = tensors.of(world.rank());
            world.broadcast(broadcast, 2).await();
            assertThat(floats(broadcast)).containsExactly(2);
          }
          return null;
        });
  }

  @Test
  void gatheringAndScatteringMoveEachPartToItsPlace() {
    gpus.run(
        3,
        (world, gpu) -> {
          int rank = world.rank();
          try (Tensors tensors = new Tensors(gpu)) {
            DeviceTensor all = tensors.of(0, 0, 0);
            world.allGather(all, tensors.of(rank)).await();
            assertThat(floats(all)).containsExactly(0, 1, 2);

            DeviceTensor part = tensors.of(0f);
            world.reduceScatter(part, tensors.of(10, 20, 30), ReduceOp.SUM).await();
            assertThat(floats(part)).containsExactly(30 * (rank + 1));

            List<Tensor> gathered =
                rank == 0
                    ? List.of(tensors.of(9f), tensors.of(9f, 9), tensors.of(9f, 9, 9))
                    : List.of();
            float[] own = new float[rank + 1];
            java.util.Arrays.fill(own, rank);
            world.gather(gathered, tensors.of(own), 0).await();
            for (int peer = 0; peer < gathered.size(); peer++) {
              assertThat(floats((DeviceTensor) gathered.get(peer))).containsOnly(peer);
            }

            List<Tensor> given =
                rank == 2 ? List.of(tensors.of(5f), tensors.of(6f), tensors.of(7f)) : List.of();
            DeviceTensor mine = tensors.of(0f);
            world.scatter(mine, given, 2).await();
            assertThat(floats(mine)).containsExactly(5 + rank);
          }
          return null;
        });
  }

  @Test
  void partsOfListsMayDifferInSizeAndBeEmpty() {
    gpus.run(
        3,
        (world, gpu) -> {
          int rank = world.rank();
          try (Tensors tensors = new Tensors(gpu)) {
            List<Tensor> outputs =
                List.of(tensors.of(new float[0]), tensors.of(9f), tensors.of(9f, 9));
            float[] own = new float[rank];
            java.util.Arrays.fill(own, rank);
            world.allGather(outputs, tensors.of(own)).await();
            assertThat(floats((DeviceTensor) outputs.get(1))).containsExactly(1);
            assertThat(floats((DeviceTensor) outputs.get(2))).containsExactly(2, 2);

            List<Tensor> inputs =
                List.of(tensors.of(new float[0]), tensors.of(1f), tensors.of(2f, 3));
            DeviceTensor sum = tensors.of(new float[rank]);
            world.reduceScatter(sum, inputs, ReduceOp.SUM).await();
            assertThat(floats(sum))
                .containsExactly(
                    rank == 0 ? new float[0] : rank == 1 ? new float[] {3} : new float[] {6, 9});

            // Rank r sends p elements of value r to each rank p.
            DeviceTensor sent = tensors.of(rank, rank, rank);
            DeviceTensor received = tensors.of(new float[3 * rank]);
            world
                .allToAll(received, sent, new long[] {rank, rank, rank}, new long[] {0, 1, 2})
                .await();
            float[] expected = new float[3 * rank];
            for (int i = 0; i < expected.length; i++) {
              expected[i] = Math.floorDiv(i, rank);
            }
            assertThat(floats(received)).containsExactly(expected);

            DeviceTensor even = tensors.of(10 * rank, 10 * rank + 1, 10 * rank + 2);
            DeviceTensor swapped = tensors.of(0, 0, 0);
            world.allToAll(swapped, even).await();
            assertThat(floats(swapped)).containsExactly(rank, 10 + rank, 20 + rank);
          }
          return null;
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {22802, 22803})
  void equalPartsAreExchangedWithOrWithoutAFunctionForIt(int version) {
    gpus.nccl().pretend(version);
    gpus.run(
        3,
        (world, gpu) -> {
          int rank = world.rank();
          try (Tensors tensors = new Tensors(gpu)) {
            // Two of NCCL's elements each.
            Tensor shorts = Tensor.of(new short[] {(short) (10 * rank), 1, 2, 3, 4, 5});
            DeviceTensor received = tensors.of(Tensor.of(new short[6]));
            world.allToAll(received, tensors.of(shorts)).await();
            short[] got = new short[6];
            received.copyTo(got);
            short[][] expected = {{0, 1, 10, 1, 20, 1}, {2, 3, 2, 3, 2, 3}, {4, 5, 4, 5, 4, 5}};
            assertThat(got).containsExactly(expected[rank]);
          }
          return null;
        });
    assertThat(gpus.nccl().calls().contains("ncclAlltoAll")).isEqualTo(version == 22803);
    assertThat(gpus.nccl().calls().contains("ncclSend")).isEqualTo(version == 22802);
  }

  @Test
  void messagesOfAPairMatchInTheirOrderAndRingsDoNotLock() {
    gpus.run(
        3,
        (world, gpu) -> {
          int rank = world.rank();
          int next = (rank + 1) % 3;
          int previous = (rank + 2) % 3;
          try (Tensors tensors = new Tensors(gpu)) {
            DeviceTensor first = tensors.of(0f);
            DeviceTensor second = tensors.of(0f);
            // Each sends before it receives: no send may wait for its peer on the host.
            Work[] works = {
              world.send(tensors.of(rank), next, 0),
              world.send(tensors.of(rank + 10), next, 0),
              world.recv(first, previous, 0),
              world.recv(second, previous, 0)
            };
            for (Work each : works) {
              each.await();
            }
            assertThat(floats(first)).containsExactly(previous);
            assertThat(floats(second)).containsExactly(previous + 10);
            assertThat(works[3].sequenceNumber()).isEqualTo(3);
          }
          return null;
        });
  }

  @Test
  void aBatchAndABlockAreOneLaunchEach() {
    gpus.run(
        2,
        (world, gpu) -> {
          int peer = 1 - world.rank();
          try (Tensors tensors = new Tensors(gpu)) {
            DeviceTensor received = tensors.of(0f);
            List<Work> works =
                world.batch(
                    List.of(
                        P2POp.send(tensors.of(world.rank()), peer, 0),
                        P2POp.recv(received, peer, 0)));
            works.forEach(Work::await);
            assertThat(floats(received)).containsExactly(peer);

            DeviceTensor a = tensors.of(1f);
            DeviceTensor b = tensors.of(2f);
            Coalescing block = world.coalesce();
            try (block) {
              world.allReduce(a, ReduceOp.SUM);
              world.allReduce(b, ReduceOp.SUM);
            }
            block.work().await();
            assertThat(floats(a)).containsExactly(2);
            assertThat(floats(b)).containsExactly(4);
            world.allReduceCoalesced(List.of(a, b), ReduceOp.SUM).await();
            assertThat(floats(a)).containsExactly(4);
          }
          return null;
        });
    // Two ranks; a batch, a block, a coalesced operation.
    assertThat(gpus.nccl().calls().stream().filter("ncclGroupEnd"::equals)).hasSize(6);
  }

  @Test
  void hostAndGpuTensorsOfOneGroupTakeTheirOwnWaysInOneSequence() {
    gpus.run(
        2,
        (world, gpu) -> {
          try (Tensors tensors = new Tensors(gpu)) {
            float[] host = {1};
            DeviceTensor device = tensors.of(1f);
            Work first = world.allReduce(Tensor.of(host), ReduceOp.SUM);
            Work second = world.allReduce(device, ReduceOp.SUM);
            Work third = world.barrier();
            first.await();
            second.await();
            third.await();
            assertThat(host).containsExactly(2);
            assertThat(floats(device)).containsExactly(2);
            assertThat(second.sequenceNumber()).isEqualTo(1);
            assertThat(third.sequenceNumber()).isEqualTo(2);
            assertThat(world.flightRecorder().records()).hasSize(3);
            assertThatThrownBy(() -> world.allGather(device, Tensor.of(1f)))
                .isInstanceOf(IllegalArgumentException.class);
            assertThat(world.backend()).isEqualTo("cpu:netty,cuda:" + FakeGpus.BACKEND);
            assertThat(world.objects().allGather("r" + world.rank())).containsExactly("r0", "r1");
          }
          return null;
        });
  }

  @Test
  void aStreamWaitsWhileTheHostGoesOn() {
    gpus.run(
        2,
        (world, gpu) -> {
          try (Tensors tensors = new Tensors(gpu);
              CudaStream mine = CudaStream.create(gpu, false)) {
            DeviceTensor data = tensors.of(1f);
            DeviceTensor copy = tensors.of(0f);
            try (CudaStream.Use use = mine.use()) {
              assertThat(use).isNotNull();
              // The collective begins after what the caller's stream holds.
              data.copyFrom(Tensor.of(new float[] {world.rank() + 1}));
              Work work = world.allReduce(data, ReduceOp.SUM);
              work.synchronize(mine);
              copy.copyFrom(data);
              mine.synchronize();
              assertThat(floats(copy)).containsExactly(3);
              work.await();
            }
          }
          return null;
        });
  }

  @Test
  void aGroupForGpusAloneHasAMemoryABarrierAndObjects() {
    gpus.run(
        2,
        FakeGpus.options().withBackend("cuda:" + FakeGpus.BACKEND),
        (world, gpu) -> {
          DeviceTensor data = DeviceTensor.of(world.allocate(DType.FLOAT32, 2));
          data.copyFrom(Tensor.of(1f, 2));
          world.allReduce(data, ReduceOp.SUM).await();
          assertThat(floats(data)).containsExactly(2, 4);
          assertThat(gpus.nccl().registrations()).isPositive();
          world.barrier().await();
          assertThat(world.objects().broadcast(world.rank() == 0 ? "x" : null, 0)).isEqualTo("x");
          assertThatThrownBy(() -> world.allReduce(Tensor.of(1f), ReduceOp.SUM))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("no backend for tensors of cpu");
          return null;
        });
  }

  @Test
  void theGpuCanMeasureWhatItDoes() {
    gpus.run(
        2,
        (world, gpu) -> {
          try (Tensors tensors = new Tensors(gpu)) {
            DeviceTensor data = tensors.of(1f);
            Work work = world.allReduce(data, ReduceOp.SUM);
            work.await();
            assertThat(work.durationMillis().orElseThrow()).isPositive();
          }
          return null;
        },
        "spark.collectives.gpu.timing=true");
  }

  @Test
  void manyRanksHaveSeveralRoots() {
    gpus.run(
        5,
        (world, gpu) -> {
          try (Tensors tensors = new Tensors(gpu)) {
            DeviceTensor data = tensors.of(1f);
            world.allReduce(data, ReduceOp.SUM).await();
            assertThat(floats(data)).containsExactly(5);
          }
          return null;
        },
        "spark.collectives.gpu.nccl.ranksPerRoot=2");
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
  void groupsMadeFromAnEagerOneGetTheirCommunicatorFromIts(boolean eager) {
    gpus.run(
        4,
        (world, gpu) -> {
          try (Tensors tensors = new Tensors(gpu)) {
            DeviceTensor data = tensors.of(1f);
            try (ProcessGroup half = world.split(world.rank() % 2, -world.rank())) {
              assertThat(half.rank()).isEqualTo(world.rank() < 2 ? 1 : 0);
              half.allReduce(data, ReduceOp.SUM).await();
              DeviceTensor root = tensors.of(world.rank());
              half.broadcast(root, 0).await();
              assertThat(floats(root)).containsExactly(2 + world.rank() % 2);
            }
            assertThat(floats(data)).containsExactly(2);
            // Rank 3 is in none, and has a part in the split.
            ProcessGroup three = world.newGroup(0, 1, 2);
            if (three != null) {
              three.allReduce(data, ReduceOp.SUM).await();
              assertThat(floats(data)).containsExactly(6);
              three.close();
            }
            if (world.rank() != 1) {
              ProcessGroup rest = world.shrink(1);
              rest.allReduce(data, ReduceOp.MAX).await();
              assertThat(floats(data)).containsExactly(6);
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
  void memoryOfARanksGpuComesFromTheGroup() {
    gpus.run(
        1,
        (world, gpu) -> {
          DeviceTensor data = DeviceTensor.of(world.allocate(DType.FLOAT32, 3, Device.Type.CUDA));
          assertThat(data.gpu().ordinal()).isZero();
          assertThat(floats(data)).containsExactly(0, 0, 0);
          assertThat(world.allocate(DType.FLOAT32, 3).device()).isEqualTo(Device.CPU);
          return null;
        });
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
}
