package org.sparkcollectives.ml.internal.rows;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.ml.feature.Instance;

/**
 * Rows as a matrix with one array for each feature. The compiler makes vector instructions of a
 * loop over the rows, because no step needs another one and each array begins at its first row;
 * each row's products are still added up in the order of its features.
 */
final class DenseRowBlock implements RowBlock {

  private final double[] weights;
  private final double[] labels;

  /** For each feature, its value in each row. */
  private final double[][] columns;

  DenseRowBlock(List<Instance> rows) {
    int size = rows.size();
    this.weights = rows.stream().mapToDouble(Instance::weight).toArray();
    this.labels = rows.stream().mapToDouble(Instance::label).toArray();
    this.columns = new double[rows.get(0).features().size()][size];
    for (int row = 0; row < size; row++) {
      double[] features = rows.get(row).features().toArray();
      for (int feature = 0; feature < features.length; feature++) {
        columns[feature][row] = features[feature];
      }
    }
  }

  @Override
  public int size() {
    return weights.length;
  }

  @Override
  public double weight(int row) {
    return weights[row];
  }

  @Override
  public double label(int row) {
    return labels[row];
  }

  @Override
  public void dots(double[] vectors, int offset, double[] dots) {
    Arrays.fill(dots, 0, size(), 0);
    int feature = 0;
    for (; feature + 4 <= columns.length; feature += 4) {
      addFour(vectors, offset + feature, feature, dots);
    }
    for (; feature < columns.length; feature++) {
      double factor = vectors[offset + feature];
      double[] column = columns[feature];
      for (int row = 0; row < column.length; row++) {
        dots[row] = Math.fma(factor, column[row], dots[row]);
      }
    }
  }

  /**
   * Adds the products of four features at once, which reads and writes the sums a fourth as often.
   */
  private void addFour(double[] vectors, int offset, int feature, double[] dots) {
    double factor0 = vectors[offset];
    double factor1 = vectors[offset + 1];
    double factor2 = vectors[offset + 2];
    double factor3 = vectors[offset + 3];
    double[] column0 = columns[feature];
    double[] column1 = columns[feature + 1];
    double[] column2 = columns[feature + 2];
    double[] column3 = columns[feature + 3];
    for (int row = 0; row < column0.length; row++) {
      double dot = Math.fma(factor0, column0[row], dots[row]);
      dot = Math.fma(factor1, column1[row], dot);
      dot = Math.fma(factor2, column2[row], dot);
      dots[row] = Math.fma(factor3, column3[row], dot);
    }
  }

  @Override
  public void addTo(int[] clusters, double[] sums) {
    int[] offsets = new int[size()];
    for (int row = 0; row < offsets.length; row++) {
      offsets[row] = clusters[row] * columns.length;
    }
    for (int feature = 0; feature < columns.length; feature++) {
      double[] column = columns[feature];
      for (int row = 0; row < column.length; row++) {
        sums[offsets[row] + feature] += column[row] * weights[row];
      }
    }
  }

  @Override
  public void addMoments(double[] rowWeights, double[] sums, int rowOffset, int productOffset) {
    double[] weighted = new double[size()];
    int product = productOffset;
    for (int feature = 0; feature < columns.length; feature++) {
      double[] column = columns[feature];
      double sum = 0;
      for (int row = 0; row < column.length; row++) {
        weighted[row] = rowWeights[row] * column[row];
        sum += weighted[row];
      }
      sums[rowOffset + feature] += sum;
      addProducts(weighted, feature, sums, product);
      product += feature + 1;
    }
  }

  /** Adds the products of one weighted feature with those up to itself, four at once. */
  private void addProducts(double[] weighted, int last, double[] sums, int offset) {
    int feature = 0;
    for (; feature + 4 <= last + 1; feature += 4) {
      double[] column0 = columns[feature];
      double[] column1 = columns[feature + 1];
      double[] column2 = columns[feature + 2];
      double[] column3 = columns[feature + 3];
      double sum0 = 0;
      double sum1 = 0;
      double sum2 = 0;
      double sum3 = 0;
      for (int row = 0; row < weighted.length; row++) {
        double factor = weighted[row];
        sum0 = Math.fma(factor, column0[row], sum0);
        sum1 = Math.fma(factor, column1[row], sum1);
        sum2 = Math.fma(factor, column2[row], sum2);
        sum3 = Math.fma(factor, column3[row], sum3);
      }
      sums[offset + feature] += sum0;
      sums[offset + feature + 1] += sum1;
      sums[offset + feature + 2] += sum2;
      sums[offset + feature + 3] += sum3;
    }
    for (; feature <= last; feature++) {
      double[] column = columns[feature];
      double sum = 0;
      for (int row = 0; row < weighted.length; row++) {
        sum = Math.fma(weighted[row], column[row], sum);
      }
      sums[offset + feature] += sum;
    }
  }
}
