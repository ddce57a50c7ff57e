package org.sparkcollectives.ml.internal.rows;

import org.apache.spark.ml.linalg.Vector;

/** The number of features, which all rows of a fit must share. */
final class RowWidth {

  private RowWidth() {}

  /**
   * Checks a row.
   *
   * @param features how many the rows before it have
   * @throws IllegalArgumentException if {@code row} has more or fewer
   */
  static void require(Vector row, int features) {
    if (row.size() != features) {
      throw new IllegalArgumentException(
          "A row has "
              + row.size()
              + " features, and others have "
              + features
              + ". All rows must have as many");
    }
  }
}
