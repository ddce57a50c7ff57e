package org.sparkcollectives.ml.internal.rows;

/** A few rows of a rank, laid out for products with many vectors. */
public interface RowBlock {

  /** Returns how many rows there are. */
  int size();

  /** Returns the weight of a row. */
  double weight(int row);

  /** Returns the label of a row. */
  double label(int row);

  /**
   * Computes the dot products of all rows with one vector.
   *
   * @param vectors one after the other
   * @param offset where the vector begins
   * @param dots of the rows; the first {@link #size} numbers are overwritten
   */
  void dots(double[] vectors, int offset, double[] dots);

  /**
   * Computes the dot products of all rows with two vectors, with the same bits as one after the
   * other. Reads the rows once, where that is faster.
   *
   * @param vectors one after the other
   * @param first where the first vector begins
   * @param second where the second vector begins
   * @param firstDots of the rows with the first; the first {@link #size} numbers are overwritten
   * @param secondDots another array, for the second
   */
  default void dots(
      double[] vectors, int first, int second, double[] firstDots, double[] secondDots) {
    dots(vectors, first, firstDots);
    dots(vectors, second, secondDots);
  }

  /**
   * Adds the weighted rows to the sums of their clusters.
   *
   * @param clusters of the rows
   * @param sums one cluster after the other
   */
  void addTo(int[] clusters, double[] sums);

  /**
   * Adds the rows, and the products of each two of their features, with weights other than their
   * own.
   *
   * @param weights of the rows
   * @param sums to which they are added
   * @param rowOffset where the sum of the rows begins
   * @param productOffset where the sum of the products begins: the upper triangle of a symmetric
   *     matrix, column by column
   */
  void addMoments(double[] weights, double[] sums, int rowOffset, int productOffset);
}
