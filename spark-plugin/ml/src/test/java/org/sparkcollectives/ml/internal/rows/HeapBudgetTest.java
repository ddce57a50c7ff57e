package org.sparkcollectives.ml.internal.rows;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.junit.jupiter.api.Test;

class HeapBudgetTest {

  private static final long CAPACITY = 1 << 20;

  /** A row that counts as 8 KiB, of which 128 are the capacity. */
  private static final Vector ROW = Vectors.dense(new double[1012]);

  @Test
  void countsRowsUntilTheyAreTooMany() {
    HeapBudget held = HeapBudget.upTo(CAPACITY, 0);
    for (int row = 0; row < 128; row++) {
      held.add(ROW);
    }
    assertThatThrownBy(() -> held.add(ROW)).isInstanceOf(HeapShortage.class);
  }

  @Test
  void leavesLessForRowsBesideALargeState() {
    HeapBudget held = HeapBudget.upTo(CAPACITY, (CAPACITY / 2) / (8 * Double.BYTES));
    for (int row = 0; row < 64; row++) {
      held.add(ROW);
    }
    assertThatThrownBy(() -> held.add(ROW)).isInstanceOf(HeapShortage.class);
  }

  @Test
  void refusesAStateThatIsTooLargeByItself() {
    long state = CAPACITY / (8 * Double.BYTES);
    assertThatCode(() -> HeapBudget.upTo(CAPACITY, state)).doesNotThrowAnyException();
    assertThatThrownBy(() -> HeapBudget.upTo(CAPACITY, state + 1))
        .isInstanceOf(HeapShortage.class)
        .hasMessageContaining("The rows and the model of a rank take more than the 1 MiB");
  }
}
