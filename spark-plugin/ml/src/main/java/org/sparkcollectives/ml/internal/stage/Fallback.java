package org.sparkcollectives.ml.internal.stage;

import java.util.Optional;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.Dataset;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.ml.internal.rows.HeapShortage;

/** Fits by Spark's own code where a barrier stage cannot, and says in the log why. */
public final class Fallback {

  private static final Logger LOG = LoggerFactory.getLogger(Fallback.class);

  private Fallback() {}

  /**
   * Returns what {@code own} returns; or what {@code sparks} does if no barrier stage can run on
   * {@code dataset}, or if its rows are more than the ranks may hold.
   *
   * @param estimator the uid of the estimator, for the log
   */
  public static <M> M fit(
      String estimator, Dataset<?> dataset, Supplier<M> own, Supplier<M> sparks) {
    return fit(estimator, BarrierFit.obstacle(dataset), own, sparks);
  }

  /**
   * Returns what {@code own} returns; or what {@code sparks} does if no barrier stage can run in
   * {@code context}, or if the rows are more than the ranks may hold.
   *
   * @param estimator the uid of the estimator, for the log
   */
  public static <M> M fit(
      String estimator, SparkContext context, Supplier<M> own, Supplier<M> sparks) {
    return fit(estimator, BarrierFit.obstacle(context), own, sparks);
  }

  private static <M> M fit(
      String estimator, Optional<String> found, Supplier<M> own, Supplier<M> sparks) {
    Optional<String> obstacle = found;
    if (obstacle.isEmpty()) {
      try {
        return own.get();
      } catch (Exception e) { // Spark's own are checked, but declared nowhere.
        obstacle = HeapShortage.in(e);
        if (obstacle.isEmpty()) {
          throw Unchecked.of(e);
        }
      }
    }
    LOG.info("{}: Spark's own fit is used: {}", estimator, obstacle.get());
    return sparks.get();
  }
}
