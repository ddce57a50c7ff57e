package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MatrixProductsTest {

  private static float[] random(Random random, int length) {
    float[] values = new float[length];
    for (int i = 0; i < length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }

  @ParameterizedTest
  @CsvSource({"1,1,1", "3,5,2", "7,4,4", "2,1024,1", "3,1025,2", "2,5003,3", "300,3,3"})
  void productsAreThoseOfTheDefinition(int rows, int columns, int rank) {
    Random random = new Random(rows * 31L + columns);
    float[] m = random(random, rows * columns);
    float[] q = random(random, columns * rank);
    MatrixProducts products = new MatrixProducts(rows, columns, rank);
    float[] p = new float[2 + rows * rank];
    products.times(m, q, p, 2);
    float[] back = new float[1 + columns * rank];
    products.transposedTimes(m, p, 2, back, 1);
    for (int j = 0; j < rank; j++) {
      for (int i = 0; i < rows; i++) {
        double sum = 0;
        for (int k = 0; k < columns; k++) {
          sum += (double) m[i * columns + k] * q[j * columns + k];
        }
        assertThat((double) p[2 + j * rows + i]).isCloseTo(sum, within(1e-3));
      }
      for (int k = 0; k < columns; k++) {
        double sum = 0;
        for (int i = 0; i < rows; i++) {
          sum += (double) m[i * columns + k] * p[2 + j * rows + i];
        }
        assertThat((double) back[1 + j * columns + k]).isCloseTo(sum, within(1e-2));
      }
    }
    float[] outer = new float[rows * columns];
    products.outer(
        p, 2, back, 1, (at, block, length) -> System.arraycopy(block, 0, outer, at, length));
    for (int i = 0; i < rows; i++) {
      for (int k = 0; k < columns; k++) {
        double sum = 0;
        for (int j = 0; j < rank; j++) {
          sum += (double) p[2 + j * rows + i] * back[1 + j * columns + k];
        }
        assertThat((double) outer[i * columns + k])
            .isCloseTo(sum, within(1e-4 * Math.max(1, Math.abs(sum))));
      }
    }
    assertThat(new float[] {p[0], p[1], back[0]}).containsOnly(0);
  }
}
