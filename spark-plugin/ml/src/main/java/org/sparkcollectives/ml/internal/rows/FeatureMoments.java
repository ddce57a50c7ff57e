package org.sparkcollectives.ml.internal.rows;

import java.io.Serializable;
import java.util.Arrays;
import org.apache.spark.ml.linalg.DenseVector;
import org.apache.spark.ml.linalg.SparseVector;
import org.apache.spark.ml.linalg.Vector;

/**
 * The weighted mean and variance of each feature, in one pass: West's algorithm (1979) over the
 * values that are not 0, merged as Chan, Golub and LeVeque merge them.
 *
 * <p>The arithmetic and its order are those of Spark's {@code MultivariateOnlineSummarizer}, so
 * that the bits are Spark's. That class goes through an iterator of boxed pairs, which takes longer
 * than all else that happens while rows are read.
 */
final class FeatureMoments implements Serializable {

  private static final long serialVersionUID = 1;

  private double[] means = new double[0];

  /** The sums of squared deviations from the mean. */
  private double[] deviations = new double[0];

  /** The weights of the values that are not 0. */
  private double[] weights = new double[0];

  private double weightSum;
  private double squaredWeightSum;

  /**
   * Adds a row.
   *
   * @param weight at least 0; at 0 the row counts as not there
   * @throws IllegalArgumentException if the row has another number of features than those before it
   */
  void add(Vector row, double weight) {
    if (weight == 0) {
      return;
    }
    if (weightSum == 0) {
      start(row.size());
    } else {
      RowWidth.require(row, means.length);
    }
    if (row instanceof SparseVector sparse) {
      int[] features = sparse.indices();
      double[] values = sparse.values();
      for (int i = 0; i < values.length; i++) {
        add(features[i], values[i], weight);
      }
    } else {
      double[] values = ((DenseVector) row).values();
      for (int feature = 0; feature < values.length; feature++) {
        add(feature, values[feature], weight);
      }
    }
    weightSum += weight;
    squaredWeightSum += weight * weight;
  }

  private void add(int feature, double value, double weight) {
    if (value != 0) {
      double before = value - means[feature];
      means[feature] += weight * before / (weights[feature] + weight);
      deviations[feature] += weight * (value - means[feature]) * before;
      weights[feature] += weight;
    }
  }

  private void start(int features) {
    means = new double[features];
    deviations = new double[features];
    weights = new double[features];
  }

  /** Adds the rows of {@code other}, which stays as it is. */
  void merge(FeatureMoments other) {
    if (other.weightSum == 0) {
      return;
    }
    if (weightSum == 0) {
      means = other.means.clone();
      deviations = other.deviations.clone();
      weights = other.weights.clone();
    } else if (means.length != other.means.length) {
      throw new IllegalArgumentException(
          "Rows of one rank have "
              + means.length
              + " features, and those of another have "
              + other.means.length
              + ". All rows must have as many");
    } else {
      for (int feature = 0; feature < means.length; feature++) {
        merge(other, feature);
      }
    }
    weightSum += other.weightSum;
    squaredWeightSum += other.squaredWeightSum;
  }

  private void merge(FeatureMoments other, int feature) {
    double own = weights[feature];
    double its = other.weights[feature];
    double both = own + its;
    if (both != 0) {
      double distance = other.means[feature] - means[feature];
      means[feature] += distance * its / both;
      deviations[feature] += other.deviations[feature] + distance * distance * own * its / both;
    }
    weights[feature] = both;
  }

  /** Returns the sum of the rows' weights. */
  double weightSum() {
    return weightSum;
  }

  /** Returns the mean of each feature. */
  double[] mean() {
    double[] all = new double[means.length];
    for (int feature = 0; feature < all.length; feature++) {
      all[feature] = means[feature] * (weights[feature] / weightSum);
    }
    return all;
  }

  /** Returns the unbiased variance of each feature; 0 if one row has all the weight. */
  double[] variance() {
    double[] all = new double[means.length];
    double denominator = weightSum - squaredWeightSum / weightSum;
    if (denominator > 0) {
      Arrays.setAll(all, feature -> Math.max(squares(feature) / denominator, 0));
    }
    return all;
  }

  /** Returns the squared deviations of all values, those that are 0 included. */
  private double squares(int feature) {
    double mean = means[feature];
    double weight = weights[feature];
    return deviations[feature] + mean * mean * weight * (weightSum - weight) / weightSum;
  }

  /** Returns how many bytes the moments take. */
  long bytes() {
    return 3L * Double.BYTES * means.length;
  }
}
