package org.sparkcollectives.ml.internal.stage;

import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.spark.BarrierStage;
import org.sparkcollectives.spark.IterativeStage;
import org.sparkcollectives.spark.RankFunction;

/**
 * Runs the whole fit of an estimator as one barrier stage: each rank reads the rows of its
 * partition once, and the ranks iterate among themselves.
 *
 * <p>The stage has one rank for each partition. Where there are more partitions than slots, or
 * where Spark cannot compute the partitions in a barrier stage (behind {@code coalesce} or {@code
 * union}), the rows are repartitioned first. A job that fails because an executor was lost is
 * submitted again.
 */
public final class BarrierFit {

  private static final Logger LOG = LoggerFactory.getLogger(BarrierFit.class);

  /** How often a job is submitted again, as often as Spark retries a stage. */
  private static final int RESUBMISSIONS = 3;

  /** Iterations between two checkpoints, each of which costs as much as a few small iterations. */
  private static final int CHECKPOINT_INTERVAL = 10;

  private final String estimator;
  private final SparkContext context;

  /**
   * Creates a fit.
   *
   * @param estimator the uid of the estimator, for the log
   * @param dataset that is fitted
   */
  public BarrierFit(String estimator, Dataset<?> dataset) {
    this(estimator, dataset.sparkSession().sparkContext());
  }

  /**
   * Creates a fit.
   *
   * @param estimator the uid of the estimator, for the log
   * @param context of the rows that are fitted
   */
  public BarrierFit(String estimator, SparkContext context) {
    this.estimator = estimator;
    this.context = context;
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
   * Runs {@code job}, a barrier stage, on {@code rows} with one partition for each rank. Runs it
   * again, on repartitioned rows, if Spark cannot compute them in a barrier stage as they are.
   *
   * @return what the job returns
   */
  public <T, R> R run(JavaRDD<T> rows, java.util.function.Function<JavaRDD<T>, R> job) {
    JavaRDD<T> ranks = rows;
    int slots = slots();
    int partitions = rows.getNumPartitions();
    if (slots > 0 && partitions > slots) {
      LOG.info(
          "{}: the rows are repartitioned from {} partitions to {}, because each is a rank and"
              + " there are {} slots",
          estimator,
          partitions,
          slots,
          slots);
      ranks = rows.repartition(slots);
    } else if (partitions == 0) {
      ranks = rows.repartition(1);
    }
    try {
      return job.apply(ranks);
    } catch (Exception e) { // Spark's own are checked, but declared nowhere.
      if (!UnsupportedRddChain.isCauseOf(e)) {
        throw Unchecked.of(e);
      }
      LOG.info(
          "{}: the rows are repartitioned into {} partitions, because Spark cannot compute them in"
              + " a barrier stage as they are (coalesce, union or take)",
          estimator,
          partitions);
      return job.apply(rows.repartition(ranks.getNumPartitions()));
    }
  }

  /**
   * Returns the iterations of a fit on {@code ranks}, which go on from the last checkpoint when an
   * executor was lost.
   *
   * @param first the state before the first iteration
   */
  public static <T, S> IterativeStage<T, S, List<T>> iterations(JavaRDD<T> ranks, S first) {
    return IterativeStage.of(ranks, first)
        .withResubmissions(RESUBMISSIONS)
        .withCheckpointInterval(CHECKPOINT_INTERVAL);
  }

  private int slots() {
    return context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile());
  }
}
