package org.sparkcollectives.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.Paths;

/** Tests splits of any sizes, none included. */
class SplitPropertiesTest {

  /** Returns how much each rank has for each rank: a square. */
  @Provide
  Arbitrary<int[][]> exchanges() {
    Arbitrary<Integer> rows =
        Arbitraries.frequencyOf(
            Tuple.of(2, Arbitraries.just(0)),
            Tuple.of(5, Arbitraries.integers().between(0, 9)),
            Tuple.of(1, Arbitraries.integers().between(100, 5000)));
    return Arbitraries.integers()
        .between(1, 5)
        .flatMap(size -> rows.array(int[].class).ofSize(size).array(int[][].class).ofSize(size));
  }

  @Provide
  Arbitrary<Paths> paths() {
    return Arbitraries.of(Paths.HEAP, Paths.TCP, Paths.SHM, Paths.MIXED);
  }

  private static void ranks(Paths paths, int size, GroupRuns.Body<Void> body) {
    GroupRuns.run(size, paths, body);
  }

  @Property(tries = 60)
  void allToAllExchangesAnySplits(
      @ForAll("paths") Paths paths,
      @ForAll("exchanges") int[][] rows,
      @ForAll @IntRange(min = 1, max = 3) int width) {
    ranks(
        paths,
        rows.length,
        group -> {
          long[] inputSplits = splits(rows, group.rank(), true);
          long[] outputSplits = splits(rows, group.rank(), false);
          Tensor input = Tensor.allocate(DType.INT64, Arrays.stream(inputSplits).sum() * width);
          Tensor output = Tensor.allocate(DType.INT64, Arrays.stream(outputSplits).sum() * width);
          fill(input, group.rank());
          group
              .allToAll(
                  output.reshape(output.count() / width, width),
                  input.reshape(input.count() / width, width),
                  outputSplits,
                  inputSplits)
              .await();
          long at = 0;
          for (int peer = 0; peer < rows.length; peer++) {
            long from = Arrays.stream(splits(rows, peer, true)).limit(group.rank()).sum() * width;
            long count = outputSplits[peer] * width;
            assertNumbers(output.slice(at, count), peer, from);
            at += count;
          }
          return null;
        });
  }

  @Property(tries = 60)
  void allGatherReduceScatterGatherAndScatterTakeAnyCounts(
      @ForAll("paths") Paths paths,
      @ForAll("exchanges") int[][] rows,
      @ForAll @IntRange(max = 4) int to) {
    int root = to % rows.length;
    ranks(
        paths,
        rows.length,
        group -> {
          Tensor input = tensor(rows[root][group.rank()], group.rank());
          List<Tensor> outputs = blanks(rows[root]);
          group.allGather(outputs, input).await();
          assertAll(outputs);

          List<Tensor> atRoot = group.rank() == root ? blanks(rows[root]) : List.of();
          group.gather(atRoot, input, root).await();
          assertAll(atRoot);

          Tensor part = Tensor.allocate(DType.INT64, rows[root][group.rank()]);
          List<Tensor> given = new ArrayList<>();
          for (int peer = 0; group.rank() == root && peer < rows.length; peer++) {
            given.add(tensor(rows[root][peer], peer));
          }
          group.scatter(part, given, root).await();
          assertNumbers(part, group.rank(), 0);

          assertReduceScatter(group, rows[root]);
          return null;
        });
  }

  private static void assertReduceScatter(ProcessGroup group, int[] counts) {
    List<Tensor> inputs = new ArrayList<>();
    for (int count : counts) {
      inputs.add(tensor(count, group.rank()));
    }
    long[] sum = new long[counts[group.rank()]];
    group.reduceScatter(Tensor.of(sum), inputs, ReduceOp.SUM).await();
    long size = group.size();
    for (int i = 0; i < sum.length; i++) {
      assertThat(sum[i]).isEqualTo(size * (size - 1) / 2 * 1_000_000 + size * i);
    }
  }

  private static long[] splits(int[][] rows, int rank, boolean sent) {
    long[] splits = new long[rows.length];
    Arrays.setAll(splits, peer -> sent ? rows[rank][peer] : rows[peer][rank]);
    return splits;
  }

  private static List<Tensor> blanks(int[] counts) {
    return Arrays.stream(counts).mapToObj(count -> Tensor.allocate(DType.INT64, count)).toList();
  }

  private static Tensor tensor(long count, int rank) {
    Tensor tensor = Tensor.allocate(DType.INT64, count);
    fill(tensor, rank);
    return tensor;
  }

  /** Fills a tensor with numbers that tell which rank they come from. */
  private static void fill(Tensor tensor, int rank) {
    Arrays.setAll((long[]) tensor.array(), i -> 1_000_000L * rank + i);
  }

  private static void assertAll(List<Tensor> tensors) {
    for (int rank = 0; rank < tensors.size(); rank++) {
      assertNumbers(tensors.get(rank), rank, 0);
    }
  }

  private static void assertNumbers(Tensor tensor, int rank, long from) {
    long[] actual = new long[(int) tensor.count()];
    tensor.copyTo(actual);
    long[] expected = new long[actual.length];
    Arrays.setAll(expected, i -> 1_000_000L * rank + from + i);
    assertThat(actual).isEqualTo(expected);
  }
}
