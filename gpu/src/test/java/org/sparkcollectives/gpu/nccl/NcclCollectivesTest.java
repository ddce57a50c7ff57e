package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.gpu.DeviceTensor;
import org.sparkcollectives.gpu.testing.FakeGpus;
import org.sparkcollectives.testing.LeakCheck;

/** Tests each collective between GPUs, over fakes of the driver and of NCCL. */
@ExtendWith(LeakCheck.class)
class NcclCollectivesTest {

  @RegisterExtension final FakeGpus gpus = new FakeGpus();

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void anAllReduceSumsOnAllRanks(int size) {
    List<float[]> results =
        gpus.run(
            size,
            (world, gpu) -> {
              try (GpuTensors tensors = new GpuTensors(gpu)) {
                DeviceTensor data = tensors.of(world.rank() + 1, 10);
                Work work = world.allReduce(data, ReduceOp.SUM);
                work.await();
                assertThat(work.opType()).isEqualTo(OpType.ALL_REDUCE);
                assertThat(work.isSuccess()).isTrue();
                assertThat(work.durationMillis()).isPresent();
                return GpuTensors.floats(data);
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
          try (GpuTensors tensors = new GpuTensors(gpu)) {
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
          try (GpuTensors tensors = new GpuTensors(gpu)) {
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
            assertThat(GpuTensors.floats(average)).containsExactly(2);
            assertThat(GpuTensors.floats(product)).containsExactly(6);
            assertThat(GpuTensors.floats(least)).containsExactly(1);
            assertThat(GpuTensors.floats(most)).containsExactly(3);
            assertThat(GpuTensors.floats(weighted)).containsExactly(7);
          }
          return null;
        });
  }

  @Test
  void whatNcclCannotReduceIsRefusedBeforeAnythingMoves() {
    gpus.run(
        1,
        (world, gpu) -> {
          try (GpuTensors tensors = new GpuTensors(gpu)) {
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
          try (GpuTensors tensors = new GpuTensors(gpu)) {
            DeviceTensor reduced = tensors.of(world.rank() + 1);
            world.reduce(reduced, ReduceOp.SUM, 1).await();
            assertThat(GpuTensors.floats(reduced))
                .containsExactly(world.rank() == 1 ? 6 : world.rank() + 1);
            DeviceTensor broadcast = tensors.of(world.rank());
            world.broadcast(broadcast, 2).await();
            assertThat(GpuTensors.floats(broadcast)).containsExactly(2);
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
          try (GpuTensors tensors = new GpuTensors(gpu)) {
            DeviceTensor all = tensors.of(0, 0, 0);
            world.allGather(all, tensors.of(rank)).await();
            assertThat(GpuTensors.floats(all)).containsExactly(0, 1, 2);

            DeviceTensor part = tensors.of(0f);
            world.reduceScatter(part, tensors.of(10, 20, 30), ReduceOp.SUM).await();
            assertThat(GpuTensors.floats(part)).containsExactly(30 * (rank + 1));

            List<Tensor> gathered =
                rank == 0
                    ? List.of(tensors.of(9f), tensors.of(9f, 9), tensors.of(9f, 9, 9))
                    : List.of();
            float[] own = new float[rank + 1];
            java.util.Arrays.fill(own, rank);
            world.gather(gathered, tensors.of(own), 0).await();
            for (int peer = 0; peer < gathered.size(); peer++) {
              assertThat(GpuTensors.floats((DeviceTensor) gathered.get(peer))).containsOnly(peer);
            }

            List<Tensor> given =
                rank == 2 ? List.of(tensors.of(5f), tensors.of(6f), tensors.of(7f)) : List.of();
            DeviceTensor mine = tensors.of(0f);
            world.scatter(mine, given, 2).await();
            assertThat(GpuTensors.floats(mine)).containsExactly(5 + rank);
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
          try (GpuTensors tensors = new GpuTensors(gpu)) {
            List<Tensor> outputs =
                List.of(tensors.of(new float[0]), tensors.of(9f), tensors.of(9f, 9));
            float[] own = new float[rank];
            java.util.Arrays.fill(own, rank);
            world.allGather(outputs, tensors.of(own)).await();
            assertThat(GpuTensors.floats((DeviceTensor) outputs.get(1))).containsExactly(1);
            assertThat(GpuTensors.floats((DeviceTensor) outputs.get(2))).containsExactly(2, 2);

            List<Tensor> inputs =
                List.of(tensors.of(new float[0]), tensors.of(1f), tensors.of(2f, 3));
            DeviceTensor sum = tensors.of(new float[rank]);
            world.reduceScatter(sum, inputs, ReduceOp.SUM).await();
            assertThat(GpuTensors.floats(sum))
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
            assertThat(GpuTensors.floats(received)).containsExactly(expected);

            DeviceTensor even = tensors.of(10 * rank, 10 * rank + 1, 10 * rank + 2);
            DeviceTensor swapped = tensors.of(0, 0, 0);
            world.allToAll(swapped, even).await();
            assertThat(GpuTensors.floats(swapped)).containsExactly(rank, 10 + rank, 20 + rank);
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
          try (GpuTensors tensors = new GpuTensors(gpu)) {
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
}
