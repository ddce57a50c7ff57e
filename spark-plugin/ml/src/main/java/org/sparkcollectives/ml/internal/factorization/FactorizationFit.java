package org.sparkcollectives.ml.internal.factorization;

import java.util.function.Supplier;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.regression.FactorizationMachines;
import org.apache.spark.mllib.linalg.Vector;
import org.apache.spark.rdd.RDD;
import org.apache.spark.storage.StorageLevel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.ml.internal.stage.BarrierFit;
import org.sparkcollectives.ml.internal.stage.Fallback;
import org.sparkcollectives.spark.iteration.IterationResult;
import scala.Tuple2;
import scala.reflect.ClassTag$;

/** Fits the coefficients of a factorization machine in one barrier stage. */
public final class FactorizationFit {

  private static final Logger LOG = LoggerFactory.getLogger(FactorizationFit.class);

  private FactorizationFit() {}

  /**
   * Returns the coefficients and the losses of the iterations. Blocks until the job has ended.
   *
   * @param estimator whose Params hold
   * @param rows label and features, which Spark's estimator has marked for its cache if nothing
   *     else caches them
   * @param loss Spark's name of the loss
   * @param sparks fits by Spark's own code, where no barrier stage can
   */
  public static Tuple2<org.apache.spark.ml.linalg.Vector, double[]> of(
      FactorizationMachines estimator,
      RDD<Tuple2<Object, Vector>> rows,
      int features,
      String loss,
      Supplier<Tuple2<org.apache.spark.ml.linalg.Vector, double[]>> sparks) {
    StorageLevel cached = rows.getStorageLevel();
    if (!cached.equals(StorageLevel.NONE())) {
      // The ranks read the rows once; Spark's cache would hold them a second time.
      rows.unpersist(false);
    }
    return Fallback.fit(
        estimator.uid(),
        rows.sparkContext(),
        () -> inStage(estimator, rows, features, loss),
        () -> {
          if (!cached.equals(StorageLevel.NONE())) {
            rows.persist(cached);
          }
          return sparks.get();
        });
  }

  private static Tuple2<org.apache.spark.ml.linalg.Vector, double[]> inStage(
      FactorizationMachines estimator,
      RDD<Tuple2<Object, Vector>> rows,
      int features,
      String loss) {
    MiniBatchDescent descent = MiniBatchDescent.of(estimator, features, loss);
    double[] first = descent.first(estimator.initCoefficients(features).toArray()).numbers();
    IterationResult<double[]> trained =
        new BarrierFit(estimator.uid())
            .iterate(
                JavaRDD.fromRDD(rows, ClassTag$.MODULE$.apply(Tuple2.class)),
                first,
                stage ->
                    stage
                        .withLoader(own -> LabeledRow.listOf(own, first.length))
                        .withLoss((state, sums, iteration) -> descent.loss(state, sums))
                        .withStopCondition(
                            (before, after, iteration) -> descent.isConverged(before, after))
                        .run(
                            descent.iterations(),
                            (state, own, iteration) -> descent.gradient(state, own, iteration),
                            (state, sums, iteration) -> descent.step(state, sums, iteration)));
    DescentState last = descent.state(trained.state());
    descent
        .warnings(last.rows(), trained.losses())
        .forEach(warning -> LOG.warn("{}: {}", estimator.uid(), warning));
    return new Tuple2<>(
        Vectors.dense(last.coefficients()), MiniBatchDescent.reported(trained.losses()));
  }
}
