package org.sparkcollectives.examples.loops;

import org.apache.spark.api.java.JavaSparkContext;

/** A loop that is written twice; both ways give the same numbers, but for the last digits. */
interface Loop {

  /** Returns what the loop is, for a person. */
  String name();

  /** Returns the final state of a loop of {@code treeAggregate} and broadcast. */
  double[] onDriver(JavaSparkContext spark, int iterations);

  /** Returns the final state of the same loop as one barrier stage. */
  double[] inStage(int iterations);

  /** Adds {@code other} to {@code sum}, and returns it. */
  static double[] add(double[] sum, double[] other) {
    for (int i = 0; i < sum.length; i++) {
      sum[i] += other[i];
    }
    return sum;
  }
}
