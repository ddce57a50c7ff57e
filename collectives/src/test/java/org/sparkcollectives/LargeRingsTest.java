package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/**
 * Tests rings whose chunks go in pieces, one of which is sent while another comes in, and is larger
 * than what sockets and shared memory hold: over every path of messages.
 */
@EnabledOnOs(OS.LINUX)
@ExtendWith(LeakCheck.class)
@Timeout(300)
class LargeRingsTest {

  private static final int RANKS = 3;
  private static final int PART = 3_000_017;

  static List<Paths> paths() {
    return Paths.named(
        List.of(Paths.HEAP_ONLY, Paths.TCP, Paths.TLS, Paths.SHM, Paths.MIXED, Paths.UNEVEN));
  }

  private static float[] contribution(int rank, int count) {
    Random random = new Random(rank);
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = random.nextInt(1 << 20);
    }
    return values;
  }

  /** Exact in whichever order. */
  private static float[] sum(int count) {
    float[] sum = new float[count];
    for (int rank = 0; rank < RANKS; rank++) {
      float[] each = contribution(rank, count);
      for (int i = 0; i < count; i++) {
        sum[i] += each[i];
      }
    }
    return sum;
  }

  private static GroupOptions with(Paths path, String algorithm) {
    return path.options().withAlgorithms(algorithm);
  }

  @ParameterizedTest
  @MethodSource("paths")
  void addUp(Paths path) {
    int count = RANKS * PART;
    float[] expected = sum(count);
    GroupRuns.run(
        RANKS,
        with(path, "RingAllReduce"),
        path::context,
        group -> {
          float[] values = contribution(group.rank(), count);
          group.allReduce(Tensor.of(values), ReduceOp.SUM).await();
          assertThat(values).isEqualTo(expected);
          return null;
        });
  }

  @ParameterizedTest
  @MethodSource("paths")
  void scatterSums(Paths path) {
    float[] expected = sum(RANKS * PART);
    GroupRuns.run(
        RANKS,
        with(path, "RingReduceScatter"),
        path::context,
        group -> {
          float[] own = new float[PART];
          Tensor all = Tensor.of(contribution(group.rank(), RANKS * PART));
          group.reduceScatter(Tensor.of(own), all, ReduceOp.SUM).await();
          int from = group.rank() * PART;
          assertThat(own).isEqualTo(Arrays.copyOfRange(expected, from, from + PART));
          return null;
        });
  }

  @ParameterizedTest
  @MethodSource("paths")
  void gather(Paths path) {
    GroupRuns.run(
        RANKS,
        with(path, "RingAllGather"),
        path::context,
        group -> {
          float[] all = new float[RANKS * PART];
          Tensor own = Tensor.of(contribution(group.rank(), PART));
          group.allGather(Tensor.of(all), own).await();
          for (int rank = 0; rank < RANKS; rank++) {
            assertThat(Arrays.copyOfRange(all, rank * PART, (rank + 1) * PART))
                .isEqualTo(contribution(rank, PART));
          }
          return null;
        });
  }
}
