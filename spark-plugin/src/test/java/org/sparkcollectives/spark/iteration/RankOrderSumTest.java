package org.sparkcollectives.spark.iteration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests that a sum depends on the ranks' numbers alone, and not on where the ranks are. */
@ExtendWith(LeakCheck.class)
class RankOrderSumTest {

  private static final int SIZE = 5;

  /** Numbers whose sum shows in which order they were added. */
  private static double[] numbers(int rank, int length) {
    Random random = new Random(31L * rank + length);
    return random.doubles(length, -1, 1).map(x -> x * Math.pow(10, random.nextInt(12))).toArray();
  }

  private static double[] inRankOrder(int size, int length) {
    double[] sum = numbers(0, length);
    for (int rank = 1; rank < size; rank++) {
      double[] each = numbers(rank, length);
      for (int i = 0; i < length; i++) {
        sum[i] += each[i];
      }
    }
    return sum;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3, 1000, 20_001})
  void theBitsAreThoseOfTheOrderOfTheRanksOnAllPaths(int length) {
    double[] expected = inRankOrder(SIZE, length);
    for (Paths paths : Paths.some()) {
      List<double[]> sums =
          GroupRuns.run(
              SIZE,
              paths,
              group -> {
                RankOrderSum sum = new RankOrderSum(group, length);
                double[] own = numbers(group.rank(), length);
                double[] first = sum.reduce(own);
                assertThat(own).isEqualTo(numbers(group.rank(), length));
                double[] second = sum.reduce(own);
                assertThat(second).isEqualTo(first).isNotSameAs(first);
                return first;
              });
      assertThat(sums.get(0)).as("over %s", paths).isEqualTo(expected);
      assertThat(sums.subList(1, SIZE)).as("over %s", paths).allMatch(each -> each.length == 0);
    }
  }

  @Test
  void theSumOfOneRankIsACopyOfItsNumbers() {
    double[] own = numbers(0, 7);
    double[] sum =
        GroupRuns.run(1, Paths.HEAP, group -> new RankOrderSum(group, 7).reduce(own)).get(0);
    assertThat(sum).isEqualTo(own).isNotSameAs(own);
  }

  @Test
  void anArrayOfAnotherLengthIsRefused() {
    GroupRuns.run(
        1,
        Paths.HEAP,
        group ->
            assertThatThrownBy(() -> new RankOrderSum(group, 7).reduce(new double[6]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                    "rank 0 gave 6 elements to a sum of 7: give each rank's sum its length"));
  }
}
