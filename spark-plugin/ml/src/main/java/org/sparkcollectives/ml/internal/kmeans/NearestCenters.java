package org.sparkcollectives.ml.internal.kmeans;

import java.util.Arrays;
import org.sparkcollectives.ml.internal.rows.RowBlock;

/** The nearest center of each row of a block. Of centers at one distance it is the first. */
final class NearestCenters {

  private double[] dots = new double[0];
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
    start(block.size());
    int features = centers.length / squaredNorms.length;
    for (int cluster = 0; cluster < squaredNorms.length; cluster++) {
      block.dots(centers, cluster * features, dots);
      for (int row = 0; row < block.size(); row++) {
        take(cluster, row, -2 * dots[row] + block.label(row) + squaredNorms[cluster]);
      }
    }
  }

  /**
   * Finds the nearest centers by the cosine distance of rows and centers of norm 1.
   *
   * @param centers one center after the other
   * @param count how many they are
   */
  void byCosine(RowBlock block, double[] centers, int count) {
    start(block.size());
    int features = centers.length / count;
    for (int cluster = 0; cluster < count; cluster++) {
      block.dots(centers, cluster * features, dots);
      for (int row = 0; row < block.size(); row++) {
        take(cluster, row, 1 - dots[row]);
      }
    }
  }

  /** Returns the number of the nearest center of each row; the array is used again. */
  int[] clusters() {
    return clusters;
  }

  /** Returns the distance of each row to its nearest center; the array is used again. */
  double[] distances() {
    return distances;
  }

  private void start(int size) {
    if (dots.length < size) {
      dots = new double[size];
      distances = new double[size];
      clusters = new int[size];
    }
    Arrays.fill(distances, Double.POSITIVE_INFINITY);
    Arrays.fill(clusters, 0);
  }

  private void take(int cluster, int row, double distance) {
    if (distance < distances[row]) {
      distances[row] = distance;
      clusters[row] = cluster;
    }
  }
}
