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
      addOne(vectors[offset + feature], columns[feature], dots);
    }
  }

  @Override
  public void dots(
      double[] vectors, int first, int second, double[] firstDots, double[] secondDots) {
    Arrays.fill(firstDots, 0, size(), 0);
    Arrays.fill(secondDots, 0, size(), 0);
    int feature = 0;
    for (; feature + 4 <= columns.length; feature += 4) {
      addFourToTwo(vectors, first + feature, second + feature, feature, firstDots, secondDots);
    }
    for (; feature < columns.length; feature++) {
      addOne(vectors[first + feature], columns[feature], firstDots);
      addOne(vectors[second + feature], columns[feature], secondDots);
    }
  }

  private static void addOne(double factor, double[] column, double[] dots) {
    for (int row = 0; row < column.length; row++) {
      dots[row] = Math.fma(factor, column[row], dots[row]);
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

  /** Does {@link #addFour} for two vectors, which reads the features half as often. */
  private void addFourToTwo(
      double[] vectors, int first, int second, int feature, double[] dots, double[] otherDots) {
    double factor0 = vectors[first];
    double factor1 = vectors[first + 1];
    double factor2 = vectors[first + 2];
    double factor3 = vectors[first + 3];
    double other0 = vectors[second];
    double other1 = vectors[second + 1];
    double other2 = vectors[second + 2];
    double other3 = vectors[second + 3];
    double[] column0 = columns[feature];
    double[] column1 = columns[feature + 1];
    double[] column2 = columns[feature + 2];
    double[] column3 = columns[feature + 3];
    for (int row = 0; row < column0.length; row++) {
      double value0 = column0[row];
      double value1 = column1[row];
      double value2 = column2[row];
      double value3 = column3[row];
      double dot = Math.fma(factor0, value0, dots[row]);
      dot = Math.fma(factor1, value1, dot);
      dot = Math.fma(factor2, value2, dot);
      dots[row] = Math.fma(factor3, value3, dot);
      double otherDot = Math.fma(other0, value0, otherDots[row]);
      otherDot = Math.fma(other1, value1, otherDot);
      otherDot = Math.fma(other2, value2, otherDot);
      otherDots[row] = Math.fma(other3, value3, otherDot);
    }
  }

  @Override
  public void addTo(int[] clusters, double[] sums) {
    int[] offsets = new int[size()];
    for (int row = 0; row < offsets.length; row++) {
      offsets[row] = clusters[row] * columns.length;
    }
    int feature = 0;
    for (; feature + 4 <= columns.length; feature += 4) {
      addFourTo(offsets, feature, sums);
    }
    for (; feature < columns.length; feature++) {
      double[] column = columns[feature];
      for (int row = 0; row < column.length; row++) {
        sums[offsets[row] + feature] += column[row] * weights[row];
      }
    }
  }

  private void addFourTo(int[] offsets, int feature, double[] sums) {
    double[] column0 = columns[feature];
    double[] column1 = columns[feature + 1];
    double[] column2 = columns[feature + 2];
    double[] column3 = columns[feature + 3];
    for (int row = 0; row < offsets.length; row++) {
      int offset = offsets[row] + feature;
      double weight = weights[row];
      sums[offset] += column0[row] * weight;
      sums[offset + 1] += column1[row] * weight;
      sums[offset + 2] += column2[row] * weight;
      sums[offset + 3] += column3[row] * weight;
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
