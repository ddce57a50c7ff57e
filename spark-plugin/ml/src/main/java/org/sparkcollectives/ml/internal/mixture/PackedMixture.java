package org.sparkcollectives.ml.internal.mixture;

import java.util.Arrays;

/**
 * The numbers of a mixture, as an array that ranks send: of each Gaussian the weight; of each the
 * mean, one after the other; of each the covariances, the upper triangle of a symmetric matrix,
 * column by column; two numbers more.
 *
 * <p>A state has the log-likelihood and the one before it as the last two. What a rank contributes
 * has sums in all places, and as the last two the log-likelihood and the sum of all weights.
 */
public final class PackedMixture {

  private final int gaussians;
  private final int features;
  private final int triangle;
  private final double[] numbers;

  private PackedMixture(int gaussians, int features, double[] numbers) {
    this.gaussians = gaussians;
    this.features = features;
    this.triangle = triangle(features);
    this.numbers = numbers;
  }

  /** Returns a mixture of zeros. */
  static PackedMixture zeros(int gaussians, int features) {
    int length = Math.toIntExact(length(gaussians, features));
    return new PackedMixture(gaussians, features, new double[length]);
  }

  /** Returns how many numbers a mixture consists of. */
  static long length(int gaussians, int features) {
    int each = Math.addExact(features + 1, triangle(features));
    return Math.addExact(Math.multiplyExact((long) gaussians, each), 2);
  }

  /** Returns the mixture that {@code numbers} hold; they are not copied. */
  public static PackedMixture of(int gaussians, int features, double[] numbers) {
    return new PackedMixture(gaussians, features, numbers);
  }

  private static int triangle(int features) {
    return Math.toIntExact((long) features * (features + 1) / 2);
  }

  /** Returns all of the numbers. */
  public double[] numbers() {
    return numbers;
  }

  /** Returns the weights of all Gaussians. */
  public double[] weights() {
    return Arrays.copyOf(numbers, gaussians);
  }

  void setWeight(int gaussian, double weight) {
    numbers[gaussian] = weight;
  }

  void addWeight(int gaussian, double weight) {
    numbers[gaussian] += weight;
  }

  /** Returns where the mean of a Gaussian begins. */
  int meanOffset(int gaussian) {
    return gaussians + gaussian * features;
  }

  /** Returns where the covariances of a Gaussian begin. */
  int covarianceOffset(int gaussian) {
    return gaussians * (features + 1) + gaussian * triangle;
  }

  /** Returns a copy of the mean of a Gaussian. */
  public double[] mean(int gaussian) {
    int offset = meanOffset(gaussian);
    return Arrays.copyOfRange(numbers, offset, offset + features);
  }

  /** Returns a copy of the covariances of a Gaussian, the upper triangle column by column. */
  public double[] covariance(int gaussian) {
    int offset = covarianceOffset(gaussian);
    return Arrays.copyOfRange(numbers, offset, offset + triangle);
  }

  void setGaussian(int gaussian, double[] mean, double[] covariance) {
    System.arraycopy(mean, 0, numbers, meanOffset(gaussian), features);
    System.arraycopy(covariance, 0, numbers, covarianceOffset(gaussian), triangle);
  }

  /** Returns the log-likelihood of all rows in the mixture before this one. */
  public double logLikelihood() {
    return numbers[numbers.length - 2];
  }

  void setLogLikelihood(double logLikelihood) {
    numbers[numbers.length - 2] = logLikelihood;
  }

  /** Returns the last number: the log-likelihood before, or the sum of all weights. */
  double last() {
    return numbers[numbers.length - 1];
  }

  void setLast(double last) {
    numbers[numbers.length - 1] = last;
  }
}
