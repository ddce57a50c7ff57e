package org.sparkcollectives.examples.digits;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/**
 * Computes the same step as Spark does it without ranks: broadcasts the parameters, aggregates the
 * gradient.
 */
final class TreeAggregateStep {

  private static final int STEPS = 20;

  private TreeAggregateStep() {}

  /** Returns the median time of a step in milliseconds. */
  static double medianMillis(
      JavaSparkContext spark, JavaRDD<Sample> train, TrainingOptions options) {
    JavaRDD<Sample> cached = train.cache();
    try {
      return medianMillisOf(spark, cached, options);
    } finally {
      cached.unpersist();
    }
  }

  private static double medianMillisOf(
      JavaSparkContext spark, JavaRDD<Sample> cached, TrainingOptions options) {
    cached.count();
    int batch = Math.max(1, options.batch() / cached.getNumPartitions());
    double[] parameters = options.network().randomParameters(options.seed());
    double[] velocity = new double[parameters.length];
    StepTimes times = new StepTimes(STEPS);
    for (int step = 0; step < STEPS; step++) {
      times.begin();
      Broadcast<double[]> current = spark.broadcast(parameters);
      Gradient sum = new Gradient(parameters.length);
      double[] total =
          cached
              .mapPartitions(
                  rows -> {
                    List<Sample> samples = new ArrayList<>();
                    while (rows.hasNext() && samples.size() < batch) {
                      samples.add(rows.next());
                    }
                    Gradient gradient = new Gradient(current.value().length);
                    gradient.compute(new Network(options.network(), current.value()), samples);
                    return List.of(gradient.array()).iterator();
                  })
              .treeAggregate(
                  new double[parameters.length + 2],
                  TreeAggregateStep::add,
                  TreeAggregateStep::add);
      System.arraycopy(total, 0, sum.array(), 0, total.length);
      sum.apply(parameters, velocity, options);
      current.destroy();
      times.end();
    }
    return times.medianMillis();
  }

  private static double[] add(double[] sum, double[] other) {
    for (int i = 0; i < sum.length; i++) {
      sum[i] += other[i];
    }
    return sum;
  }
}
