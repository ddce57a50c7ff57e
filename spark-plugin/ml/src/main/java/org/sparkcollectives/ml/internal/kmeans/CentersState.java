package org.sparkcollectives.ml.internal.kmeans;

import java.util.Arrays;

/**
 * The centers between two iterations, as an array of numbers that the ranks broadcast: the
 * coordinates of one center after the other; of each center whether it has moved since the start;
 * the cost; whether the centers have converged.
 */
public final class CentersState {

  private final int clusters;
  private final int features;
  private final double[] numbers;

  private CentersState(int clusters, int features, double[] numbers) {
    this.clusters = clusters;
    this.features = features;
    this.numbers = numbers;
  }

  /** Returns the state before the first iteration, with the cost 0. */
  static CentersState first(double[][] centers) {
    int clusters = centers.length;
    int features = centers[0].length;
    CentersState state =
        new CentersState(clusters, features, new double[length(clusters, features)]);
    for (int cluster = 0; cluster < clusters; cluster++) {
      System.arraycopy(centers[cluster], 0, state.numbers, cluster * features, features);
    }
    return state;
  }

  /** Returns the state that {@code numbers} hold; they are not copied. */
  static CentersState of(int clusters, int features, double[] numbers) {
    return new CentersState(clusters, features, numbers);
  }

  private static int length(int clusters, int features) {
    return Math.addExact(Math.multiplyExact(clusters, features + 1), 2);
  }

  /** Returns a copy that can be changed without this one. */
  CentersState copy() {
    return new CentersState(clusters, features, numbers.clone());
  }

  /** Returns all of the state. */
  public double[] numbers() {
    return numbers;
  }

  /** Returns the coordinates of all centers, one center after the other; the first numbers. */
  double[] coordinates() {
    return Arrays.copyOf(numbers, clusters * features);
  }

  /** Returns a copy of the coordinates of one center. */
  double[] center(int cluster) {
    return Arrays.copyOfRange(numbers, cluster * features, (cluster + 1) * features);
  }

  /** Moves a center. */
  void move(int cluster, double[] center) {
    System.arraycopy(center, 0, numbers, cluster * features, features);
    numbers[clusters * features + cluster] = 1;
  }

  /** Returns whether the center is another than before the first iteration. */
  boolean hasMoved(int cluster) {
    return numbers[clusters * features + cluster] != 0;
  }

  /** Returns the sum of the weighted distances of all rows to the centers before the last move. */
  public double cost() {
    return numbers[numbers.length - 2];
  }

  /** Returns whether the last iteration moved no center by more than the tolerance. */
  public boolean hasConverged() {
    return numbers[numbers.length - 1] != 0;
  }

  void finishIteration(double cost, boolean converged) {
    numbers[numbers.length - 2] = cost;
    numbers[numbers.length - 1] = converged ? 1 : 0;
  }
}
