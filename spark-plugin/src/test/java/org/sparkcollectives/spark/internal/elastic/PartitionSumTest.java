package org.sparkcollectives.spark.internal.elastic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests that a sum depends on the partitions alone, and not on who has them. */
@ExtendWith(LeakCheck.class)
class PartitionSumTest {

  private static final int PARTITIONS = 7;

  /** Numbers whose sum shows in which order they were added. */
  private static double[] numbers(int partition, int length) {
    Random random = new Random(31L * partition + length);
    return random.doubles(length, -1, 1).map(x -> x * Math.pow(10, random.nextInt(12))).toArray();
  }

  private static double[] inOrder(List<Integer> partitions, int length) {
    double[] sum = numbers(partitions.get(0), length);
    for (int partition : partitions.subList(1, partitions.size())) {
      double[] each = numbers(partition, length);
      Arrays.setAll(sum, i -> sum[i] + each[i]);
    }
    return sum;
  }

  private static void assertSum(List<List<Integer>> owned, int length) {
    List<Integer> partitions = owned.stream().flatMap(List::stream).sorted().toList();
    double[] expected = inOrder(partitions, length);
    List<double[]> sums =
        GroupRuns.run(
            owned.size(),
            Paths.HEAP,
            group ->
                PartitionSum.of(
                    group,
                    owned,
                    owned.get(group.rank()).stream().map(each -> numbers(each, length)).toList()));
    assertThat(sums).as("%s", owned).allSatisfy(each -> assertThat(each).isEqualTo(expected));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3, 1000})
  void theBitsAreThoseOfTheOrderOfThePartitionsWhoeverHasThem(int length) {
    Random random = new Random(length);
    for (int ranks = 1; ranks <= 4; ranks++) {
      List<List<Integer>> owned = new ArrayList<>();
      IntStream.range(0, ranks).forEach(rank -> owned.add(new ArrayList<>(List.of(rank))));
      for (int partition = ranks; partition < PARTITIONS; partition++) {
        owned.get(random.nextInt(ranks)).add(partition);
      }
      assertSum(owned, length);
    }
  }

  @Test
  void partitionsThatNobodyHasAreNotInTheSum() {
    assertSum(List.of(List.of(1), List.of(4)), 10);
  }

  @Test
  void arraysThatDoNotFitThePartitionsAreRefused() {
    assertThatThrownBy(
            () ->
                PartitionSum.length(
                    3, List.of(3, 5), List.of(new double[4], new double[4], new double[4])))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "Replica 3 has partitions [3, 5], and needs an array of one length for each, not"
                + " arrays of [4, 4, 4] numbers");
    assertThatThrownBy(
            () -> PartitionSum.length(3, List.of(3, 5), List.of(new double[4], new double[1])))
        .hasMessageContaining("not arrays of [4, 1] numbers");
  }
}
