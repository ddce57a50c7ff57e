package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.Arrival;

class ArrivalComparisonTest {

  private static final double MILLI = 1e6;

  /**
   * Returns the samples of a rank that computes for so long before each collective, and then waits
   * until {@code step} is over.
   */
  private static List<Arrival> rank(int count, double step, IntToDoubleFunction own) {
    List<Arrival> arrivals = new ArrayList<>();
    double outside = 0;
    for (int i = 0; i < count; i++) {
      double time = own.applyAsDouble(i);
      outside += time;
      arrivals.add(new Arrival(i, 0, (long) (step - time), (long) outside));
    }
    return arrivals;
  }

  private static ArrivalComparison compared(List<List<Arrival>> ranks) {
    ArrivalComparison comparison = new ArrivalComparison(ranks.size());
    comparison.compare(ranks);
    return comparison;
  }

  @Test
  void aRankThatTakesATenthLongerIsAStraggler() {
    List<List<Arrival>> ranks = new ArrayList<>();
    for (int rank = 0; rank < 8; rank++) {
      double own = rank == 5 ? 22.5 * MILLI : 20 * MILLI;
      ranks.add(rank(12, 25 * MILLI, i -> own));
    }
    ArrivalComparison comparison = compared(ranks);
    for (int rank = 0; rank < 8; rank++) {
      assertThat(comparison.isStraggler(rank)).as("rank %d", rank).isEqualTo(rank == 5);
    }
    assertThat(comparison.slowness(5)).isCloseTo(0.125, within(1e-6));
    assertThat(comparison.samples()).isEqualTo(12);
    assertThat(comparison.arrivedLast(5)).isEqualTo(12);
    assertThat(comparison.waitedSeconds(5)).isCloseTo(12 * 2.5e-3, within(1e-6));
  }

  @Test
  void theSlowerOfTwoRanksIsFound() {
    ArrivalComparison comparison =
        compared(
            List.of(rank(20, 50 * MILLI, i -> 30 * MILLI), rank(20, 50 * MILLI, i -> 40 * MILLI)));
    assertThat(comparison.isStraggler(0)).isFalse();
    assertThat(comparison.isStraggler(1)).isTrue();
  }

  @Test
  void fewSamplesRaiseNoAlarm() {
    int count = ArrivalComparison.FEWEST;
    ArrivalComparison comparison =
        compared(
            List.of(
                rank(count, 50 * MILLI, i -> 20 * MILLI),
                rank(count, 50 * MILLI, i -> 40 * MILLI)));
    assertThat(comparison.isStraggler(1)).isFalse();
    assertThat(comparison.arrivedLast(1)).isEqualTo(count);
  }

  @Test
  void onePauseRaisesNoAlarm() {
    ArrivalComparison comparison =
        compared(
            List.of(
                rank(40, 900 * MILLI, i -> 20 * MILLI),
                rank(40, 900 * MILLI, i -> i == 30 ? 800 * MILLI : 20 * MILLI)));
    assertThat(comparison.slowness(1)).isGreaterThan(0.5);
    assertThat(comparison.isStraggler(1)).isFalse();
  }

  @Test
  void noiseRaisesNoAlarm() {
    Random random = new Random(7);
    for (int run = 0; run < 1000; run++) {
      List<List<Arrival>> ranks = new ArrayList<>();
      for (int rank = 0; rank < 32; rank++) {
        ranks.add(
            rank(
                9 + run % 55,
                200 * MILLI,
                i -> MILLI * Math.max(1, 20 + 6 * random.nextGaussian())));
      }
      ArrivalComparison comparison = compared(ranks);
      for (int rank = 0; rank < 32; rank++) {
        assertThat(comparison.isStraggler(rank)).as("run %d, rank %d", run, rank).isFalse();
      }
    }
  }

  @Test
  void noiseOfTwoRanksRaisesNoAlarm() {
    Random random = new Random(11);
    for (int run = 0; run < 200; run++) {
      List<List<Arrival>> ranks = new ArrayList<>();
      for (int rank = 0; rank < 2; rank++) {
        ranks.add(rank(64, 200 * MILLI, i -> MILLI * Math.max(1, 20 + 6 * random.nextGaussian())));
      }
      ArrivalComparison comparison = compared(ranks);
      for (int rank = 0; rank < 2; rank++) {
        assertThat(comparison.isStraggler(rank)).as("run %d, rank %d", run, rank).isFalse();
      }
    }
  }

  /** Steps with ten collectives one after the other, and own code before the first. */
  private static double ofStep(int collective, double own) {
    return collective % 10 == 0 ? own : MILLI / 100;
  }

  @Test
  void aStragglerIsFoundThoughFewOfTheCollectivesFollowItsOwnCode() {
    Random random = new Random(3);
    List<List<Arrival>> ranks = new ArrayList<>();
    for (int rank = 0; rank < 4; rank++) {
      double own = (rank == 2 ? 460 : 400) * MILLI;
      ranks.add(rank(100, 500 * MILLI, i -> ofStep(i, own * (1 + 0.005 * random.nextGaussian()))));
    }
    ArrivalComparison comparison = compared(ranks);
    for (int rank = 0; rank < 4; rank++) {
      assertThat(comparison.isStraggler(rank)).as("rank %d", rank).isEqualTo(rank == 2);
    }
  }

  @Test
  void aRankThatAloneHasCodeBetweenTwoCollectivesIsFound() {
    List<List<Arrival>> ranks = new ArrayList<>();
    for (int rank = 0; rank < 4; rank++) {
      double between = rank == 3 ? 5 * MILLI : MILLI / 100;
      ranks.add(rank(64, 40 * MILLI, i -> i % 2 == 0 ? 20 * MILLI : between));
    }
    ArrivalComparison comparison = compared(ranks);
    for (int rank = 0; rank < 4; rank++) {
      assertThat(comparison.isStraggler(rank)).as("rank %d", rank).isEqualTo(rank == 3);
    }
  }

  @Test
  void fewStepsRaiseNoAlarmHoweverManyCollectivesTheyHave() {
    ArrivalComparison comparison =
        compared(
            List.of(
                rank(64, 500 * MILLI, i -> ofStep(i, 400 * MILLI)),
                rank(64, 500 * MILLI, i -> ofStep(i, 460 * MILLI))));
    assertThat(comparison.slowness(1)).isCloseTo(0.15, within(1e-2));
    assertThat(comparison.isStraggler(1)).isFalse();
  }

  @Test
  void onePauseAmongStepsOfManyCollectivesRaisesNoAlarm() {
    for (int pause : new int[] {0, 40, 45}) {
      ArrivalComparison comparison =
          compared(
              List.of(
                  rank(100, 5000 * MILLI, i -> ofStep(i, 400 * MILLI)),
                  rank(
                      100,
                      5000 * MILLI,
                      i -> ofStep(i, 400 * MILLI) + (i == pause ? 900 * MILLI : 0))));
      assertThat(comparison.isStraggler(1)).as("pause before collective %d", pause).isFalse();
    }
  }

  @Test
  void aRankThatHasBecomeSlowLatelyIsFound() {
    ArrivalComparison comparison =
        compared(
            List.of(
                rank(64, 50 * MILLI, i -> 20 * MILLI),
                rank(64, 50 * MILLI, i -> i >= 48 ? 23 * MILLI : 20 * MILLI)));
    assertThat(comparison.isStraggler(1)).isTrue();
    assertThat(comparison.slowness(1)).isGreaterThan(0.14);
  }

  @Test
  void aSlownessThatDoesNotMatterRaisesNoAlarm() {
    // Microseconds between collectives that take milliseconds.
    ArrivalComparison comparison =
        compared(List.of(rank(64, 5 * MILLI, i -> 2e3), rank(64, 5 * MILLI, i -> 4e3)));
    assertThat(comparison.isStraggler(1)).isFalse();
  }

  @Test
  void onlyWhatAllRanksHaveSampledIsComparedAndOnce() {
    List<Arrival> one = rank(20, 50 * MILLI, i -> 20 * MILLI);
    List<Arrival> other = rank(30, 50 * MILLI, i -> 20 * MILLI).subList(10, 30);
    ArrivalComparison comparison = new ArrivalComparison(2);
    comparison.compare(List.of(one, other));
    assertThat(comparison.samples()).isEqualTo(10);
    comparison.compare(List.of(one, other));
    assertThat(comparison.samples()).isEqualTo(10);
    comparison.compare(List.of(rank(25, 50 * MILLI, i -> 20 * MILLI), other));
    assertThat(comparison.samples()).isEqualTo(15);
  }

  @Test
  void ranksWithoutSamplesInCommonAreNotCompared() {
    ArrivalComparison comparison = compared(List.of(List.of(), List.of(new Arrival(1, 0, 2, 3))));
    assertThat(comparison.samples()).isZero();
  }
}
