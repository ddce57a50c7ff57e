package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.BFloat16;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.heap.HeapGroup;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.testing.RankThreads;

/**
 * What an all-reduce of 16-bit numbers sends between hosts, compared with one of as many {@code
 * float32}, and that it still rounds once.
 */
class HalvesBetweenHostsTest {

  /** Divisible so that parts are equal, and so many that bytes count and not steps. */
  private static final int LARGE = 16 * 2 * 3 * 4 * 5 * 7 * 64;

  /** Some with several slices. */
  private static final int[] COUNTS = {0, 1, 100, 20_011, 60_000};

  private static final PathCosts COSTS =
      new PathCosts(
          new CostModel(1e-6, 0, 2e9, 8),
          new CostModel(2e-6, 1e-6, 2e9, 8),
          new CostModel(15e-6, 4e-6, 1e9, 8));

  /** The JVM and the host of each rank. */
  private record Layout(String jvms, String hosts) {

    int size() {
      return jvms.length();
    }

    Locality byJvm() {
      return Locality.of(jvms.chars().boxed().toList());
    }

    Locality byHost() {
      return Locality.of(hosts.chars().boxed().toList());
    }

    @Override
    public String toString() {
      return jvms + " on " + hosts;
    }
  }

  /** Layouts, and the share of the bytes of float32 that sums and extremes may take. */
  static Stream<Arguments> shares() {
    return Stream.of(
        // One rank a host.
        Arguments.of(new Layout("ab", "xy"), 0.5),
        Arguments.of(new Layout("abc", "xyz"), 0.5),
        Arguments.of(new Layout("abcde", "vwxyz"), 0.5),
        Arguments.of(new Layout("abcdefgh", "stuvwxyz"), 0.5),
        // Several ranks in one JVM of each host.
        Arguments.of(new Layout("aabb", "xxyy"), 0.75),
        Arguments.of(new Layout("aaaabbbb", "xxxxyyyy"), 0.75),
        Arguments.of(new Layout("aabbcc", "xxyyzz"), 0.75),
        Arguments.of(new Layout("aabbccdd", "vvxxyyzz"), 0.75),
        Arguments.of(new Layout("abbb", "xyyy"), 0.75),
        // Several JVMs of one rank on each host.
        Arguments.of(new Layout("abcd", "xxyy"), 0.75),
        Arguments.of(new Layout("abcdef", "xxyyzz"), 0.75),
        // JVMs of two ranks, two on each host.
        Arguments.of(new Layout("aabbccdd", "xxxxyyyy"), 0.75));
  }

  /** The bytes that all ranks together send to other hosts. */
  private static long bytesBetweenHosts(Layout layout, DType dtype, ReduceOp op) {
    HeapGroup messages = new HeapGroup();
    ConcurrentMap<Integer, HeapGroup> heaps = new ConcurrentHashMap<>();
    Locality hosts = layout.byHost();
    List<Long> sent =
        RankThreads.run(
            layout.size(),
            rank -> {
              CountingPeers peers = peers(layout, messages, heaps, rank);
              new AlgorithmSelector(COSTS)
                  .run(peers, Call.allReduce(HostTensor.allocate(dtype, LARGE), op));
              long bytes = 0;
              for (int peer = 0; peer < layout.size(); peer++) {
                bytes += hosts.node(peer) == hosts.node(rank) ? 0 : peers.bytesTo(peer);
              }
              return bytes;
            });
    return sent.stream().mapToLong(Long::longValue).sum();
  }

  private static CountingPeers peers(
      Layout layout, HeapGroup messages, ConcurrentMap<Integer, HeapGroup> heaps, int rank) {
    CountingPeers peers = new CountingPeers(messages, rank, layout.size());
    if (layout.byJvm().isDivided() || layout.byHost().isDivided()) {
      HeapGroup heap = heaps.computeIfAbsent(layout.byJvm().node(rank), node -> new HeapGroup());
      peers.divide(heap, layout.byJvm(), layout.byHost());
    }
    return peers;
  }

  @ParameterizedTest
  @MethodSource("shares")
  void sumsTakeAShareOfTheBytesOfFloat32(Layout layout, double share) {
    for (ReduceOp op : List.of(ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT)) {
      long floats = bytesBetweenHosts(layout, DType.FLOAT32, op);
      for (DType dtype : List.of(DType.FLOAT16, DType.BFLOAT16)) {
        assertThat((double) bytesBetweenHosts(layout, dtype, op) / floats)
            .as("%s of %s", op, dtype)
            .isBetween(0.49, share + 0.01);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("shares")
  void extremesTakeHalfOfTheBytesOfFloat32(Layout layout, double share) {
    for (ReduceOp op : List.of(ReduceOp.MIN, ReduceOp.MAX)) {
      long floats = bytesBetweenHosts(layout, DType.FLOAT32, op);
      for (DType dtype : List.of(DType.FLOAT16, DType.BFLOAT16)) {
        assertThat((double) bytesBetweenHosts(layout, dtype, op) / floats)
            .as("%s of %s", op, dtype)
            .isBetween(0.49, 0.51);
      }
    }
  }

  /** The numbers are such that sums in float32 are exact, in whichever order. */
  @ParameterizedTest
  @MethodSource("shares")
  void eachElementIsRoundedOnce(Layout layout, double share) {
    for (DType dtype : List.of(DType.FLOAT16, DType.BFLOAT16)) {
      for (ReduceOp op : List.of(ReduceOp.SUM, ReduceOp.AVG, ReduceOp.MIN, ReduceOp.MAX)) {
        for (int count : COUNTS) {
          HeapGroup messages = new HeapGroup();
          ConcurrentMap<Integer, HeapGroup> heaps = new ConcurrentHashMap<>();
          short[] expected = rounded(dtype, exact(dtype, op, layout.size(), count));
          RankThreads.run(
              layout.size(),
              rank -> {
                short[] values = rounded(dtype, contribution(dtype, rank, count));
                new AlgorithmSelector(COSTS)
                    .run(
                        peers(layout, messages, heaps, rank),
                        Call.allReduce(HostTensor.wrap(dtype, values), op));
                assertThat(values).as("%s of %s x %s", op, dtype, count).isEqualTo(expected);
                return null;
              });
        }
      }
    }
  }

  /** Returns numbers of as many bits as the type has, of which the exponents differ a little. */
  private static float[] contribution(DType dtype, int rank, int count) {
    Random random = new Random(rank);
    int precision = dtype == DType.FLOAT16 ? 1 << 11 : 1 << 8;
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = Math.scalb((float) (random.nextInt(2 * precision) - precision), i % 5 - 8);
    }
    return values;
  }

  private static float[] exact(DType dtype, ReduceOp op, int ranks, int count) {
    float[] result = contribution(dtype, 0, count);
    for (int rank = 1; rank < ranks; rank++) {
      float[] next = contribution(dtype, rank, count);
      for (int i = 0; i < count; i++) {
        result[i] =
            switch (op.kind()) {
              case MIN -> Math.min(result[i], next[i]);
              case MAX -> Math.max(result[i], next[i]);
              default -> result[i] + next[i];
            };
      }
    }
    for (int i = 0; i < count && op.kind() == ReduceOp.Kind.AVG; i++) {
      result[i] /= ranks;
    }
    return result;
  }

  private static short[] rounded(DType dtype, float[] values) {
    short[] halves = new short[values.length];
    for (int i = 0; i < values.length; i++) {
      halves[i] =
          dtype == DType.FLOAT16 ? Float16.fromFloat(values[i]) : BFloat16.fromFloat(values[i]);
    }
    return halves;
  }
}
