package org.sparkcollectives.symmetric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.InvocationName;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests windows, over each kind of path, against a model in one thread. */
@ExtendWith({LeakCheck.class, InvocationName.class})
@ParameterizedClass(name = "{0}")
@EnumSource(
    value = Paths.class,
    names = {"HEAP", "DETAIL", "TCP", "MIXED"})
class MemoryWindowTest {

  private static final int RANKS = 3;
  private static final int ELEMENTS = 8;

  @Parameter private Paths paths;

  private <T> List<T> ranks(GroupRuns.Body<T> body) {
    return GroupRuns.run(RANKS, paths, body);
  }

  /** A put or get of {@code from} at {@code place} of {@code to}. */
  private record Access(boolean put, int from, int to, int place, int[] values) {}

  /** Returns what all ranks do before a fence; the same on each. */
  private static List<Access> script(Random random) {
    List<Access> script = new ArrayList<>();
    for (int i = random.nextInt(12); i > 0; i--) {
      int place = random.nextInt(ELEMENTS + 1);
      int[] values = random.ints(random.nextInt(ELEMENTS - place + 1)).toArray();
      script.add(
          new Access(
              random.nextBoolean(), random.nextInt(RANKS), random.nextInt(RANKS), place, values));
    }
    return script;
  }

  @Test
  void aFenceCarriesOutAllPutsAndThenAllGets() {
    ranks(
        group -> {
          MemoryWindow window = MemoryWindow.create(group, 4 * ELEMENTS);
          int[][] model = new int[RANKS][ELEMENTS];
          Random random = new Random(7);
          for (int round = 0; round < 25; round++) {
            List<Access> script = script(random);
            List<int[]> outputs = new ArrayList<>();
            for (Access each : script) {
              int[] values = each.values().clone();
              if (each.from() == group.rank() && each.put()) {
                window.put(Tensor.of(values), each.to(), 4L * each.place());
                // It was copied.
                java.util.Arrays.fill(values, -1);
              } else if (each.from() == group.rank()) {
                window.get(Tensor.of(values), each.to(), 4L * each.place());
                outputs.add(values);
              }
            }
            window.fence();
            for (int rank = 0; rank < RANKS; rank++) {
              for (Access each : script) {
                if (each.put() && each.from() == rank) {
                  int[] to = model[each.to()];
                  System.arraycopy(each.values(), 0, to, each.place(), each.values().length);
                }
              }
            }
            int[] own = new int[ELEMENTS];
            window.buffer(DType.INT32, 0, ELEMENTS).copyTo(own);
            assertThat(own).as("round %d", round).isEqualTo(model[group.rank()]);
            int next = 0;
            for (Access each : script) {
              if (!each.put() && each.from() == group.rank()) {
                int[] expected = new int[each.values().length];
                System.arraycopy(model[each.to()], each.place(), expected, 0, expected.length);
                assertThat(outputs.get(next++)).as("round %d", round).isEqualTo(expected);
              }
            }
          }
          return null;
        });
  }

  @Test
  void tensorsOfAnyTypeGoToAnyByte() {
    ranks(
        group -> {
          MemoryWindow window = MemoryWindow.create(group, 33);
          int next = (group.rank() + 1) % RANKS;
          window.put(Tensor.of(1.5 + group.rank(), 2.5), next, 1);
          window.put(Tensor.of((byte) group.rank()), next, 32);
          double[] found = new double[2];
          window.get(Tensor.of(found), next, 1);
          window.fence();
          assertThat(found).containsExactly(1.5 + group.rank(), 2.5);
          byte[] last = new byte[1];
          window.buffer(DType.INT8, 32, 1).copyTo(last);
          assertThat(last[0]).isEqualTo((byte) ((group.rank() + 2) % RANKS));
          return null;
        });
  }

  @Test
  void wrongSizesPlacesAndRanksAreRefused() {
    ranks(
        group -> {
          assertThatThrownBy(() -> MemoryWindow.create(group, group.rank() == 1 ? -1 : 8))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining(group.rank() == 1 ? "" : "rank 1 refused its arguments: ")
              .hasMessageContaining("-1 bytes; give 0 to 2147483647 bytes");
          assertThatThrownBy(() -> MemoryWindow.create(group, 8 + group.rank() / 2))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("rank 0 gives 8 bytes, and rank 2 gives 9 bytes");
          MemoryWindow window = MemoryWindow.create(group, 8);
          assertThat(window.bytes()).isEqualTo(8);
          assertThatThrownBy(() -> window.put(Tensor.of(1, 2, 3), 0, 0))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining(
                  "int32 x 3 from byte 0 on are not within the 8 bytes of rank 0");
          assertThatThrownBy(() -> window.get(Tensor.of(1), 0, 5)).hasMessageContaining("byte 5");
          assertThatThrownBy(() -> window.get(Tensor.of(1), 0, -1)).hasMessageContaining("byte -1");
          assertThatThrownBy(() -> window.put(Tensor.of(1), 3, 0))
              .hasMessageContaining("there is no rank 3, only 0 to 2");
          assertThatThrownBy(() -> window.buffer(DType.INT64, 0, 2))
              .isInstanceOf(IllegalArgumentException.class);
          window.fence();
          return null;
        });
  }

  @Test
  void aFenceEndsWithItsGroup() {
    ranks(
        group -> {
          MemoryWindow window = MemoryWindow.create(group, 8);
          if (group.rank() == 0) {
            // All have made the window.
            group.recv(Tensor.of(0), 1).await();
            group.recv(Tensor.of(0), 2).await();
            group.abort(new IllegalStateException("enough"));
          } else {
            group.send(Tensor.of(1), 0);
            assertThatThrownBy(window::fence)
                .isInstanceOf(CollectiveException.class)
                .hasMessageContaining("enough");
          }
          return null;
        });
  }

  @Test
  void aFenceThatNeedsMoreThanABufferIsRefusedOnAllRanks() {
    ranks(
        group -> {
          int bytes = 1 << 22;
          MemoryWindow window = MemoryWindow.create(group, bytes);
          Tensor output = Tensor.allocate(DType.INT8, bytes);
          for (int i = 0; group.rank() == 1 && i < 520; i++) {
            window.get(output, 0, 0);
          }
          assertThatThrownBy(window::fence)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("2181038080 bytes would go to one rank, or come from one");
          window.put(Tensor.of((byte) 7), group.rank(), 0);
          window.fence();
          return null;
        });
  }
}
