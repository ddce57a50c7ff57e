package org.sparkcollectives.examples.loops;

import java.util.Locale;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.sparkcollectives.spark.IterativeStage;

/** Lloyd's algorithm for k-means. The first element of a row is not looked at. */
final class Lloyd implements Loop {

  private final JavaRDD<double[]> rows;
  private final long count;
  private final int clusters;

  /** The coordinates of all centers, one center after the other. */
  private final double[] initial;

  Lloyd(JavaRDD<double[]> rows, long count, int clusters, double[] initial) {
    this.rows = rows;
    this.count = count;
    this.clusters = clusters;
    this.initial = initial;
  }

  @Override
  public String name() {
    return String.format(
        Locale.ROOT,
        "k-means, %,d rows, %d features, k = %d",
        count,
        initial.length / clusters,
        clusters);
  }

  @Override
  public double[] onDriver(JavaSparkContext spark, int iterations) {
    int k = clusters;
    double[] centers = initial;
    for (int iteration = 1; iteration <= iterations; iteration++) {
      Broadcast<double[]> current = spark.broadcast(centers);
      double[] sum =
          rows.treeAggregate(
              new double[initial.length + k],
              (sums, row) -> addToClosest(sums, current.value(), row, k),
              Loop::add);
      centers = means(centers, sum, k);
      current.destroy();
    }
    return centers;
  }

  @Override
  public double[] inStage(int iterations) {
    int k = clusters;
    return IterativeStage.of(rows, initial)
        .run(
            iterations,
            (centers, own, iteration) -> {
              double[] sums = new double[centers.length + k];
              own.forEach(row -> addToClosest(sums, centers, row, k));
              return sums;
            },
            (centers, sum, iteration) -> means(centers, sum, k))
        .state();
  }

  /** Adds a row to the sum of its cluster, and 1 to the cluster's count, which are at the end. */
  private static double[] addToClosest(double[] sums, double[] centers, double[] row, int k) {
    int features = centers.length / k;
    int closest = 0;
    double least = Double.POSITIVE_INFINITY;
    for (int cluster = 0; cluster < k; cluster++) {
      double distance = 0;
      for (int i = 0; i < features; i++) {
        double difference = row[i + 1] - centers[cluster * features + i];
        distance += difference * difference;
      }
      if (distance < least) {
        least = distance;
        closest = cluster;
      }
    }
    for (int i = 0; i < features; i++) {
      sums[closest * features + i] += row[i + 1];
    }
    sums[centers.length + closest]++;
    return sums;
  }

  /** Returns the mean of each cluster; one without rows stays where it is. */
  private static double[] means(double[] centers, double[] sums, int k) {
    int features = centers.length / k;
    double[] next = centers.clone();
    for (int i = 0; i < next.length; i++) {
      double count = sums[centers.length + i / features];
      if (count > 0) {
        next[i] = sums[i] / count;
      }
    }
    return next;
  }
}
