package org.sparkcollectives.examples.loops;

import java.util.Locale;
import java.util.Random;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.sparkcollectives.spark.IterativeStage;

/** Gradient descent for a logistic regression. A row has the label, 0 or 1, then the features. */
final class GradientDescent implements Loop {

  private final JavaRDD<double[]> rows;
  private final long count;
  private final int features;

  GradientDescent(JavaRDD<double[]> rows, long count, int features) {
    this.rows = rows;
    this.count = count;
    this.features = features;
  }

  /** Returns rows whose label depends on the sum of their features, with some noise. */
  static double[] randomRow(long seed, int features) {
    Random random = new Random(seed);
    double[] row = new double[features + 1];
    double sum = random.nextGaussian();
    for (int i = 1; i <= features; i++) {
      row[i] = random.nextGaussian();
      sum += row[i];
    }
    row[0] = sum > 0 ? 1 : 0;
    return row;
  }

  @Override
  public String name() {
    return String.format(
        Locale.ROOT, "logistic regression, %,d rows, %d features", count, features);
  }

  @Override
  public double[] onDriver(JavaSparkContext spark, int iterations) {
    double[] weights = new double[features];
    for (int iteration = 1; iteration <= iterations; iteration++) {
      Broadcast<double[]> current = spark.broadcast(weights);
      double[] sum =
          rows.treeAggregate(
              new double[features],
              (gradient, row) -> addGradient(gradient, current.value(), row),
              Loop::add);
      weights = step(weights, sum, 1.0 / count);
      current.destroy();
    }
    return weights;
  }

  @Override
  public double[] inStage(int iterations) {
    int length = features;
    double rate = 1.0 / count;
    return IterativeStage.of(rows, new double[length])
        .run(
            iterations,
            (weights, own, iteration) -> {
              double[] gradient = new double[length];
              own.forEach(row -> addGradient(gradient, weights, row));
              return gradient;
            },
            (weights, sum, iteration) -> step(weights, sum, rate))
        .state();
  }

  private static double[] addGradient(double[] gradient, double[] weights, double[] row) {
    double margin = 0;
    for (int i = 0; i < weights.length; i++) {
      margin += weights[i] * row[i + 1];
    }
    double error = 1 / (1 + Math.exp(-margin)) - row[0];
    for (int i = 0; i < weights.length; i++) {
      gradient[i] += error * row[i + 1];
    }
    return gradient;
  }

  private static double[] step(double[] weights, double[] gradient, double rate) {
    double[] next = new double[weights.length];
    for (int i = 0; i < next.length; i++) {
      next[i] = weights[i] - rate * gradient[i];
    }
    return next;
  }
}
