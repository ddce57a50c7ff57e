package org.sparkcollectives.ml.internal.kmeans;

import java.util.Arrays;

/**
 * The numbers that a rank contributes to an iteration: of each cluster the sum of its weighted
 * rows, one cluster after the other; of each cluster the sum of its weights; the cost.
 */
final class ClusterSums {

  private final int clusters;
  private final int features;
  private final double[] numbers;

  private ClusterSums(int clusters, int features, double[] numbers) {
    this.clusters = clusters;
    this.features = features;
    this.numbers = numbers;
  }

  static ClusterSums zeros(int clusters, int features) {
    int length = Math.addExact(Math.multiplyExact(clusters, features + 1), 1);
    return new ClusterSums(clusters, features, new double[length]);
  }

  /** Returns the sums that {@code numbers} hold; they are not copied. */
  static ClusterSums of(int clusters, int features, double[] numbers) {
    return new ClusterSums(clusters, features, numbers);
  }

  /** Returns all of the sums, which begin with those of the rows. */
  double[] numbers() {
    return numbers;
  }

  double[] rowSum(int cluster) {
    return Arrays.copyOfRange(numbers, cluster * features, (cluster + 1) * features);
  }

  void setRowSum(int cluster, double[] sum) {
    System.arraycopy(sum, 0, numbers, cluster * features, features);
  }

  double weight(int cluster) {
    return numbers[clusters * features + cluster];
  }

  void addWeight(int cluster, double weight) {
    numbers[clusters * features + cluster] += weight;
  }

  double cost() {
    return numbers[numbers.length - 1];
  }

  void addCost(double cost) {
    numbers[numbers.length - 1] += cost;
  }
}
