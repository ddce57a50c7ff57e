package org.sparkcollectives.examples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.examples.benchmark.GrowthLaw.Kind;

class GrowthLawTest {

  private static final int[] RANKS = {2, 4, 8, 16, 32, 64};

  private static GrowthLaw law(int[] ranks, IntToDoubleFunction cost) {
    double[] costs = new double[ranks.length];
    Arrays.setAll(costs, i -> cost.applyAsDouble(ranks[i]));
    return GrowthLaw.of(ranks, costs);
  }

  private static double log2(int value) {
    return Math.log(value) / Math.log(2);
  }

  @Test
  void eachLawIsRecognised() {
    assertThat(law(RANKS, n -> 5).kind()).isEqualTo(Kind.FLAT);
    assertThat(law(RANKS, n -> 5 * log2(n)).kind()).isEqualTo(Kind.LOG);
    assertThat(law(RANKS, n -> 5 * n).kind()).isEqualTo(Kind.LINEAR);
    assertThat(law(RANKS, n -> 5.0 * n * n).kind()).isEqualTo(Kind.QUADRATIC);
  }

  @Test
  void fixedCostsAndNoiseHideNoLaw() {
    assertThat(law(RANKS, n -> n == 16 ? 6 : 5).kind()).isEqualTo(Kind.FLAT);
    assertThat(law(RANKS, n -> 4 + 5 * log2(n)).kind()).isEqualTo(Kind.LOG);
    assertThat(law(RANKS, n -> 10 + 5 * n).kind()).isEqualTo(Kind.LINEAR);
    assertThat(law(RANKS, n -> n < 16 ? 100 : 7 * n).kind()).isEqualTo(Kind.LINEAR);
  }

  @Test
  void costsThatShrinkAreFlat() {
    assertThat(law(RANKS, n -> 100.0 / n).kind()).isEqualTo(Kind.FLAT);
  }

  @Test
  void theFactorIsThatOfADoublingInTheUpperHalf() {
    assertThat(law(RANKS, n -> n < 8 ? 1000 : n).factor()).isCloseTo(2, within(1e-9));
    assertThat(law(new int[] {2, 4, 8, 12}, n -> n)).hasToString("linear x2.00");
  }

  @Test
  void threeNumbersOfRanksAreEnough() {
    assertThat(law(new int[] {2, 4, 8}, n -> n).kind()).isEqualTo(Kind.LINEAR);
    assertThat(law(new int[] {2, 4, 8}, n -> log2(n)).kind()).isEqualTo(Kind.LOG);
  }
}
