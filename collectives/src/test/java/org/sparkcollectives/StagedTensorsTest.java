package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/**
 * Tests all-reduce of arrays among processes of one host: chunk by chunk through memory that all
 * share.
 */
@ExtendWith(LeakCheck.class)
@EnabledOnOs(OS.LINUX)
class StagedTensorsTest {

  /** The float32 elements of a chunk. */
  private static final int CHUNK = 32 * 1024;

  private static void run(int ranks, Consumer<ProcessGroup> body) {
    GroupRuns.run(
        ranks,
        GroupOptions.defaults().withTransports("shm", "tcp"),
        rank -> HostedRank.inNode(rank),
        world -> {
          body.accept(world);
          return null;
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {2049, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 9 * CHUNK + 5})
  void sumsAreRightOnBothSidesOfAChunksEnd(int count) {
    run(
        3,
        world -> {
          for (int round = 0; round < 3; round++) {
            float[] values = new float[count];
            for (int i = 0; i < count; i++) {
              values[i] = i % 1000 + world.rank() + round;
            }
            world.allReduce(Tensor.of(values), ReduceOp.SUM).await();
            for (int i = 0; i < count; i++) {
              if (values[i] != 3 * (i % 1000) + 3 + 3 * round) {
                throw new AssertionError("round " + round + ", element " + i + ": " + values[i]);
              }
            }
          }
        });
  }

  @Test
  void fewElementsInManyRanksLeaveSomeWithoutAPart() {
    run(
        5,
        world -> {
          // These are one chunk and a second one of a single element.
          double[] values = new double[CHUNK / 2 + 1];
          Arrays.fill(values, world.rank());
          world.allReduce(Tensor.of(values), ReduceOp.MAX).await();
          assertThat(values).containsOnly(4);
        });
  }

  @Test
  void halfTypesAreRoundedOnce() {
    int count = 3 * CHUNK;
    run(
        3,
        world -> {
          Tensor tensor = Tensor.allocate(DType.FLOAT16, count);
          short[] values = new short[count];
          // The values are 2048 and twice 1: if it were rounded at each step, the sum would stay
          // 2048.
          Arrays.fill(values, (short) (world.rank() == 0 ? 0x6800 : 0x3c00));
          tensor.copyFrom(values);
          world.allReduce(tensor, ReduceOp.SUM).await();
          tensor.copyTo(values);
          assertThat(IntStream.range(0, count).filter(i -> values[i] != 0x6801)).isEmpty();
        });
  }

  @Test
  void arraysAndTensorsOfTheGroupTakeTurns() {
    int count = 2 * CHUNK + 7;
    run(
        2,
        world -> {
          Tensor shared = world.allocate(DType.FLOAT32, count);
          float[] ones = new float[count];
          for (int round = 0; round < 6; round++) {
            Arrays.fill(ones, 1);
            // In the last rounds some ranks' tensors lie in shared memory, and some do not.
            boolean inShared = round < 3 ? round % 2 == 0 : (round + world.rank()) % 2 == 0;
            if (inShared) {
              shared.copyFrom(ones);
              world.allReduce(shared, ReduceOp.SUM).await();
              shared.copyTo(ones);
            } else {
              world.allReduce(Tensor.of(ones), ReduceOp.SUM).await();
            }
            assertThat(ones).containsOnly(2);
          }
        });
  }
}
