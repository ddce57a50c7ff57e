package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class OrthonormalTest {

  private static double dot(float[] array, int a, int b, int length) {
    double sum = 0;
    for (int i = 0; i < length; i++) {
      sum += (double) array[a + i] * array[b + i];
    }
    return sum;
  }

  @Property(tries = 200)
  void columnsBecomeOrthogonalAndOfLengthOne(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 8) int columns) {
    Random random = new Random(seed);
    int length = columns + random.nextInt(40);
    float[] array = new float[3 + columns * length];
    float nearlyAlike = random.nextBoolean() ? 0.01f : 1;
    for (int i = 0; i < array.length; i++) {
      array[i] = 1 + nearlyAlike * (float) random.nextGaussian();
    }
    float[] before = array.clone();
    Orthonormal.make(array, 3, length, columns, 0);
    assertThat(array).startsWith(before[0], before[1], before[2]);
    for (int i = 0; i < columns; i++) {
      for (int j = 0; j <= i; j++) {
        double expected = i == j ? 1 : 0;
        assertThat(dot(array, 3 + i * length, 3 + j * length, length))
            .isCloseTo(expected, within(1e-5));
      }
    }
  }

  @Test
  void aColumnThatDependsOnAnotherBecomesZeroAndNotNoise() {
    float[] columns = {1, 2, 3, 2, 4, 6};
    Orthonormal.make(columns, 0, 3, 2, 0);
    assertThat(columns).endsWith(0f, 0f, 0f);
    assertThat(dot(columns, 0, 0, 3)).isCloseTo(1, within(1e-6));
  }

  @Test
  void zerosStayZerosWithoutEpsilon() {
    float[] columns = {0, 0, 0, 3, 0, 4};
    Orthonormal.make(columns, 0, 3, 2, 0);
    assertThat(columns).containsExactly(0, 0, 0, 0.6f, 0, 0.8f);
    assertThat(Orthonormal.isZero(columns, 0, 3)).isTrue();
    assertThat(Orthonormal.isZero(columns, 1, 3)).isFalse();
  }

  @Test
  void epsilonIsAddedToTheNorm() {
    float[] column = {3, 4};
    Orthonormal.make(column, 0, 2, 1, 5);
    assertThat(column).containsExactly(0.3f, 0.4f);
  }

  @Test
  void theLargestFloatsHaveANorm() {
    float[] column = {Float.MAX_VALUE, Float.MAX_VALUE};
    Orthonormal.make(column, 0, 2, 1, 0);
    assertThat(column[0]).isCloseTo((float) Math.sqrt(0.5), within(1e-6f));
  }

  @Test
  void whatIsNotFiniteBecomesNan() {
    for (float bad : new float[] {Float.NaN, Float.POSITIVE_INFINITY}) {
      float[] columns = {1, 0, bad, 1, 1, 1};
      Orthonormal.make(columns, 0, 2, 3, 0);
      assertThat(columns).containsExactly(1, 0, Float.NaN, Float.NaN, Float.NaN, Float.NaN);
    }
  }
}
