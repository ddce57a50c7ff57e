package org.sparkcollectives.ml.internal.mixture;

import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.ml.linalg.BLAS;
import org.apache.spark.ml.linalg.DenseVector;

/** The mixture from which Spark's own estimator starts: each Gaussian is that of a few rows. */
public final class InitialMixture {

  private static final int SAMPLES_OF_GAUSSIAN = 5;

  private InitialMixture() {}

  /**
   * Returns the mixture of sampled rows, by a few jobs. Its log-likelihood is the smallest number
   * there is.
   */
  public static PackedMixture of(JavaRDD<Instance> rows, int gaussians, int features, long seed) {
    List<Instance> samples = rows.takeSample(true, gaussians * SAMPLES_OF_GAUSSIAN, seed);
    double weightSum = weightSum(samples);
    PackedMixture mixture = PackedMixture.zeros(gaussians, features);
    for (int gaussian = 0; gaussian < gaussians; gaussian++) {
      int first = gaussian * SAMPLES_OF_GAUSSIAN;
      List<Instance> own = samples.subList(first, first + SAMPLES_OF_GAUSSIAN);
      mixture.setWeight(gaussian, weightSum(own) / weightSum);
      double[] mean = mean(own, features);
      mixture.setGaussian(gaussian, mean, diagonal(own, mean));
    }
    mixture.setLogLikelihood(-Double.MAX_VALUE);
    return mixture;
  }

  private static double weightSum(List<Instance> samples) {
    double sum = 0;
    for (Instance sample : samples) {
      sum += sample.weight();
    }
    return sum;
  }

  private static double[] mean(List<Instance> samples, int features) {
    DenseVector mean = new DenseVector(new double[features]);
    for (Instance sample : samples) {
      BLAS.axpy(sample.weight(), sample.features(), mean);
    }
    BLAS.scal(1 / weightSum(samples), mean);
    return mean.values();
  }

  /** Returns a triangle with the variances of each feature, and covariances of 0. */
  private static double[] diagonal(List<Instance> samples, double[] mean) {
    double[] squares = new double[mean.length];
    for (Instance sample : samples) {
      double[] row = sample.features().toArray();
      for (int feature = 0; feature < mean.length; feature++) {
        double difference = row[feature] - mean[feature];
        squares[feature] += difference * difference * sample.weight();
      }
    }
    double scale = 1 / weightSum(samples);
    double[] triangle = new double[mean.length * (mean.length + 1) / 2];
    for (int feature = 0; feature < mean.length; feature++) {
      triangle[feature + feature * (feature + 1) / 2] = squares[feature] * scale;
    }
    return triangle;
  }
}
