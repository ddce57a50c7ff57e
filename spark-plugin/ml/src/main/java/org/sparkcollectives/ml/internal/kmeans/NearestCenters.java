package org.sparkcollectives.ml.internal.kmeans;

import java.util.Arrays;
import org.sparkcollectives.ml.internal.rows.RowBlock;

/** The nearest center of each row of a block. Of centers at one distance it is the first. */
final class NearestCenters {

  private double[] dots = new double[0];
  private double[] nextDots = new double[0];
  private double[] distances = new double[0];
  private int[] clusters = new int[0];

  /**
   * Finds the nearest centers by the squared Euclidean distance.
   *
   * @param block of rows whose labels are their squared norms
   * @param centers one center after the other
   * @param squaredNorms of the centers
   */
  void byEuclid(RowBlock block, double[] centers, double[] squaredNorms) {
    byDots(
        block,
        centers,
        squaredNorms.length,
        (cluster, products) -> takeEuclid(block, cluster, products, squaredNorms[cluster]));
  }

  /**
   * Finds the nearest centers by the cosine distance of rows and centers of norm 1.
   *
   * @param centers one center after the other
   * @param count how many they are
   */
  void byCosine(RowBlock block, double[] centers, int count) {
    byDots(
        block, centers, count, (cluster, products) -> takeCosine(block.size(), cluster, products));
  }

  /** Returns the number of the nearest center of each row; the array is used again. */
  int[] clusters() {
    return clusters;
  }

  /** Returns the distance of each row to its nearest center; the array is used again. */
  double[] distances() {
    return distances;
  }

  /** Compares the centers in their order, of which two at once are multiplied with the rows. */
  private void byDots(RowBlock block, double[] centers, int count, Comparison comparison) {
    start(block.size());
    int features = centers.length / count;
    int cluster = 0;
    for (; cluster + 2 <= count; cluster += 2) {
      block.dots(centers, cluster * features, (cluster + 1) * features, dots, nextDots);
      comparison.compare(cluster, dots);
      comparison.compare(cluster + 1, nextDots);
    }
    if (cluster < count) {
      block.dots(centers, cluster * features, dots);
      comparison.compare(cluster, dots);
    }
  }

  private void start(int size) {
    if (dots.length < size) {
      dots = new double[size];
      nextDots = new double[size];
      distances = new double[size];
      clusters = new int[size];
    }
    Arrays.fill(distances, Double.POSITIVE_INFINITY);
    Arrays.fill(clusters, 0);
  }

  private void takeEuclid(RowBlock block, int cluster, double[] products, double squaredNorm) {
    for (int row = 0; row < block.size(); row++) {
      take(cluster, row, -2 * products[row] + block.label(row) + squaredNorm);
    }
  }

  private void takeCosine(int size, int cluster, double[] products) {
    for (int row = 0; row < size; row++) {
      take(cluster, row, 1 - products[row]);
    }
  }

  private void take(int cluster, int row, double distance) {
    if (distance < distances[row]) {
      distances[row] = distance;
      clusters[row] = cluster;
    }
  }

  /** Takes a center where it is nearer than those before it. */
  private interface Comparison {
    void compare(int cluster, double[] products);
  }
}
