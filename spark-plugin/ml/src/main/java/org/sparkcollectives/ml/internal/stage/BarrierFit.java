package org.sparkcollectives.ml.internal.stage;

import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.sparkcollectives.spark.BarrierRows;
import org.sparkcollectives.spark.BarrierStage;
import org.sparkcollectives.spark.IterativeStage;
import org.sparkcollectives.spark.RankFunction;
import org.sparkcollectives.spark.iteration.IterationResult;

/**
 * Runs the whole fit of an estimator as one barrier stage: each rank reads the rows of its
 * partition once, and the ranks iterate among themselves.
 *
 * <p>The stage has one rank for each partition, where need be of repartitioned rows ({@link
 * BarrierRows}). A job that fails because an executor was lost is submitted again.
 */
public final class BarrierFit {

  /** How often a job is submitted again, as often as Spark retries a stage. */
  private static final int RESUBMISSIONS = 3;

  /** Iterations between two checkpoints, each of which costs as much as a few small iterations. */
  private static final int CHECKPOINT_INTERVAL = 10;

  private final String estimator;

  /**
   * Creates a fit.
   *
   * @param estimator the uid of the estimator, for the log
   */
  public BarrierFit(String estimator) {
    this.estimator = estimator;
  }

  /** Returns why no barrier stage can run on {@code dataset}; empty if one can. */
  public static Optional<String> obstacle(Dataset<?> dataset) {
    if (dataset.isStreaming()) {
      return Optional.of("the dataset is a stream");
    }
    return obstacle(dataset.sparkSession().sparkContext());
  }

  /** Returns why no barrier stage can run in {@code context}; empty if one can. */
  static Optional<String> obstacle(SparkContext context) {
    if (!context.isLocal() && context.conf().getBoolean("spark.dynamicAllocation.enabled", false)) {
      return Optional.of(
          "Spark runs no barrier stage with dynamic allocation; set"
              + " spark.dynamicAllocation.enabled=false");
    }
    return Optional.empty();
  }

  /**
   * Runs {@code fit} on all ranks, and returns what rank 0 returns as its only row. Blocks until
   * the job has ended.
   *
   * @param rows the columns that the fit reads
   * @param decode turns a row into what the ranks work with, in the tasks
   */
  public <T, R> R run(Dataset<Row> rows, Function<Row, T> decode, RankFunction<T, R> fit) {
    return run(
        rows.toJavaRDD().map(decode),
        ranks -> BarrierStage.of(ranks).withResubmissions(RESUBMISSIONS).collect(fit).get(0));
  }

  /**
   * Runs {@code job}, a barrier stage, on {@code rows} with one partition for each rank, see {@link
   * BarrierRows}.
   *
   * @return what the job returns
   */
  public <T, R> R run(JavaRDD<T> rows, java.util.function.Function<JavaRDD<T>, R> job) {
    return BarrierRows.run(estimator, rows, job);
  }

  /**
   * Runs the iterations of a fit on {@code rows}. They go on from the last checkpoint when an
   * executor was lost. Blocks until the job has ended. It fails if they end in NaN.
   *
   * @param first the state before the first iteration
   * @param job runs the iterations to their end
   */
  public <T> IterationResult<double[]> iterate(
      JavaRDD<T> rows,
      double[] first,
      java.util.function.Function<IterativeStage<T, double[], List<T>>, IterationResult<double[]>>
          job) {
    IterationResult<double[]> result =
        run(
            rows,
            ranks ->
                job.apply(
                    IterativeStage.of(ranks, first)
                        .withResubmissions(RESUBMISSIONS)
                        .withCheckpointInterval(CHECKPOINT_INTERVAL)));
    FittedNumbers.require(estimator, result.state());
    return result;
  }
}
