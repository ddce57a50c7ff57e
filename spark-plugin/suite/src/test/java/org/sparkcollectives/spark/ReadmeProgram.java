package org.sparkcollectives.spark;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;

/** The README's program in Java. */
final class ReadmeProgram {

  private ReadmeProgram() {}

  private static double[] localGradient(Iterator<double[]> rows) {
    double[] sum = new double[2];
    while (rows.hasNext()) {
      double[] row = rows.next();
      sum[0] += row[0];
      sum[1] += row[1];
    }
    return sum;
  }

  static List<double[]> run(JavaRDD<double[]> points) {
    // README
    JavaRDD<double[]> gradients =
        BarrierStage.of(points)
            .mapPartitions(
                (world, rows) -> {
                  double[] gradient = localGradient(rows);
                  world
                      .allReduce(Tensor.of(gradient), ReduceOp.SUM)
                      .await(); // in place, the same on every rank
                  return List.of(gradient).iterator();
                });
    // README
    return gradients.collect();
  }
}
