package org.sparkcollectives.examples.digits;

import java.io.Serializable;
import java.util.Arrays;
import org.apache.spark.api.java.JavaRDD;

/**
 * Scales features to about the same size, each by its own factor and shift, which only the training
 * samples decide.
 */
final class FeatureScaling implements Serializable {

  private static final long serialVersionUID = 1;

  /** The kinds of scaling. */
  enum Kind {
    /** Leaves the features as they are. */
    NONE,
    /** Scales to the range from 0 to 1. */
    MINMAX,
    /** Scales to mean 0 and variance 1. */
    STANDARD
  }

  private final double[] shift;
  private final double[] factor;

  private FeatureScaling(double[] shift, double[] factor) {
    this.shift = shift;
    this.factor = factor;
  }

  /** Computes the scaling from all training samples. Blocks for a job, or two. */
  static FeatureScaling of(Kind kind, JavaRDD<Sample> train, int features) {
    return switch (kind) {
      case NONE -> new FeatureScaling(new double[features], filled(features, 1));
      case MINMAX -> minMax(train, features);
      case STANDARD -> standard(train, features);
    };
  }

  private static FeatureScaling minMax(JavaRDD<Sample> train, int features) {
    double[] extremes = filled(2 * features, Double.NEGATIVE_INFINITY); // Maxima of -x, then of x.
    extremes =
        train.aggregate(
            extremes,
            (most, sample) -> {
              for (int i = 0; i < features; i++) {
                most[i] = Math.max(most[i], -sample.features()[i]);
                most[features + i] = Math.max(most[features + i], sample.features()[i]);
              }
              return most;
            },
            (most, other) -> {
              Arrays.setAll(most, i -> Math.max(most[i], other[i]));
              return most;
            });
    double[] shift = new double[features];
    double[] range = new double[features];
    for (int i = 0; i < features; i++) {
      shift[i] = -extremes[i];
      range[i] = extremes[features + i] - shift[i];
    }
    return new FeatureScaling(shift, inverse(range));
  }

  private static FeatureScaling standard(JavaRDD<Sample> train, int features) {
    long count = train.count();
    double[] mean = sums(train, new double[features], 1);
    Arrays.setAll(mean, i -> mean[i] / count);
    // About the mean, not about zero: the difference of two large sums would lose all digits.
    double[] deviation = sums(train, mean, 2);
    Arrays.setAll(deviation, i -> Math.sqrt(deviation[i] / count));
    return new FeatureScaling(mean, inverse(deviation));
  }

  private static double[] sums(JavaRDD<Sample> train, double[] origin, int power) {
    return train.aggregate(
        new double[origin.length],
        (sum, sample) -> {
          for (int i = 0; i < sum.length; i++) {
            double distance = sample.features()[i] - origin[i];
            sum[i] += power == 1 ? distance : distance * distance;
          }
          return sum;
        },
        (sum, other) -> {
          Arrays.setAll(sum, i -> sum[i] + other[i]);
          return sum;
        });
  }

  /** Returns the factors. A feature that never changes carries no information, and becomes 0. */
  private static double[] inverse(double[] ranges) {
    return Arrays.stream(ranges).map(range -> range > 0 ? 1 / range : 0).toArray();
  }

  private static double[] filled(int count, double value) {
    double[] values = new double[count];
    Arrays.fill(values, value);
    return values;
  }

  /** Returns a sample with its features scaled. */
  Sample apply(Sample sample) {
    double[] features = sample.features().clone();
    for (int i = 0; i < features.length; i++) {
      features[i] = (features[i] - shift[i]) * factor[i];
    }
    return new Sample(features, sample.label());
  }
}
