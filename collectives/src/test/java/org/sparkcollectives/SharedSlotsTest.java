package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** Tests small operations of processes of one host, which meet in memory, among larger ones. */
@ExtendWith(LeakCheck.class)
@EnabledOnOs(OS.LINUX)
class SharedSlotsTest {

  private static final int SLOT = 2048;

  private static <T> List<T> ranks(int size, GroupRuns.Body<T> body) {
    return ranks(size, DebugLevel.OFF, body);
  }

  private static <T> List<T> ranks(int size, DebugLevel level, GroupRuns.Body<T> body) {
    return GroupRuns.run(
        size,
        GroupOptions.defaults()
            .withTransports("shm", "tcp")
            .withDebugLevel(level)
            .withTimeout(Duration.ofSeconds(60)),
        rank -> HostedRank.inNode(rank),
        body);
  }

  private static Tensor bytes(int count, int value) {
    byte[] array = new byte[count];
    Arrays.fill(array, (byte) value);
    return Tensor.of(array);
  }

  @Test
  void operationsOfAllKindsAndSizesFollowEachOther() {
    followEachOther(DebugLevel.OFF);
  }

  @Test
  void operationsFollowEachOtherThatAreComparedFirst() {
    followEachOther(DebugLevel.DETAIL);
  }

  private static void followEachOther(DebugLevel level) {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    ranks(
        3,
        level,
        world -> {
          Random random = new Random(seed);
          for (int i = 0; i < 500; i++) {
            int count = random.nextInt(4) == 0 ? 3 * SLOT : 3 * (random.nextInt(SLOT / 3) + 1);
            int root = random.nextInt(3);
            step(world, random.nextInt(7), count, root, i);
          }
          return null;
        });
  }

  private static void step(ProcessGroup world, int kind, int count, int root, int i) {
    int rank = world.rank();
    byte value = (byte) (i % 30);
    Tensor tensor = bytes(count, value + rank);
    byte[] result = new byte[count];
    byte sum = (byte) (3 * value + 3);
    switch (kind) {
      case 0 -> {
        world.allReduce(tensor, ReduceOp.SUM).await();
        tensor.copyTo(result);
        assertThat(result).containsOnly(sum);
      }
      case 1 -> {
        world.reduce(tensor, ReduceOp.SUM, root).await();
        tensor.copyTo(result);
        assertThat(result).containsOnly(rank == root ? sum : (byte) (value + rank));
      }
      case 2 -> {
        world.broadcast(tensor, root).await();
        tensor.copyTo(result);
        assertThat(result).containsOnly((byte) (value + root));
      }
      case 3 -> {
        Tensor part = bytes(count / 3, value + rank);
        world.allGather(tensor, part).await();
        tensor.copyTo(result);
        for (int peer = 0; peer < 3; peer++) {
          assertThat(result[peer * count / 3]).isEqualTo((byte) (value + peer));
        }
      }
      case 4 -> {
        Tensor part = bytes(count / 3, 0);
        world.reduceScatter(part, tensor, ReduceOp.SUM).await();
        byte[] own = new byte[count / 3];
        part.copyTo(own);
        assertThat(own).containsOnly(sum);
      }
      case 5 -> {
        Tensor output = bytes(count, 0);
        world.allToAll(output, tensor).await();
        output.copyTo(result);
        for (int peer = 0; peer < 3; peer++) {
          assertThat(result[peer * count / 3]).isEqualTo((byte) (value + peer));
        }
      }
      default -> world.barrier().await();
    }
  }

  @Test
  void aRankWhosePeersCallSomethingLargeIsTold() {
    Function<ProcessGroup, Work> small = world -> world.broadcast(bytes(SLOT, 1), 0);
    refused(small, world -> world.broadcast(bytes(SLOT + 1, 1), 0));
    refused(small, world -> world.broadcast(world.allocate(DType.INT8, 100_000), 0));
    refused(small, world -> world.allReduce(bytes(SLOT + 1, 1), ReduceOp.SUM));
    refused(small, world -> world.gather(List.of(), bytes(8, 1), 0));
    refused(small, ProcessGroup::barrier);
    refused(
        world -> world.gather(world.rank() == 0 ? parts() : List.of(), bytes(8, 1), 0),
        ProcessGroup::barrier);
    refused(ProcessGroup::barrier, world -> world.broadcast(bytes(SLOT + 1, 1), 0));
  }

  private static List<Tensor> parts() {
    return List.of(bytes(8, 0), bytes(8, 0), bytes(8, 0));
  }

  private static void refused(
      Function<ProcessGroup, Work> first, Function<ProcessGroup, Work> others) {
    for (boolean warm : new boolean[] {false, true}) {
      ranks(
          3,
          world -> {
            if (warm) {
              world.barrier().await();
              world.barrier().await();
            }
            assertThatThrownBy(
                    () -> {
                      (world.rank() == 0 ? first : others).apply(world).await();
                      world.barrier().await();
                      world.barrier().await();
                    })
                .isInstanceOf(CollectiveException.class)
                .hasMessageContaining("but rank")
                .hasMessageContaining("All ranks must call the same collectives");
            return null;
          });
    }
  }
}
