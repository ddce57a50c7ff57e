package org.sparkcollectives.ml.internal.gradient;

import java.time.Duration;
import java.util.Optional;
import org.apache.spark.ml.feature.InstanceBlock$;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.ml.internal.optim.Solution;
import org.sparkcollectives.ml.internal.rows.InstanceRows;
import org.sparkcollectives.ml.internal.rows.Statistics;
import org.sparkcollectives.ml.internal.stage.BarrierFit;
import org.sparkcollectives.ml.internal.stage.FittedNumbers;

/** Fits an estimator in one barrier stage, or says in the log why Spark's own fit is used. */
public final class GradientFit {

  /** How much time passes between two checkpoints of the optimizer at least. */
  public static final String CHECKPOINT_INTERVAL = "spark.collectives.ml.checkpointInterval";

  private static final String DEFAULT_CHECKPOINT_INTERVAL = "2s";
  private static final Logger LOG = LoggerFactory.getLogger(GradientFit.class);

  private final String estimator;
  private final Dataset<?> dataset;

  /**
   * Creates a fit.
   *
   * @param estimator the uid of the estimator, for the log
   * @param dataset that is fitted
   */
  public GradientFit(String estimator, Dataset<?> dataset) {
    this.estimator = estimator;
    this.dataset = dataset;
  }

  /**
   * Fits {@code problem}. Blocks until the job has ended.
   *
   * @param rows the label, the weight and the features, see {@link InstanceRows}
   * @param maxBlockSizeInMB the Param of this name
   * @return empty if Spark's own fit has to be used
   */
  public Optional<Fitted> run(Dataset<Row> rows, Problem problem, double maxBlockSizeInMB) {
    Optional<String> obstacle = BarrierFit.obstacle(dataset);
    if (obstacle.isPresent()) {
      return leaveToSpark(obstacle.get());
    }
    double megabytes =
        maxBlockSizeInMB == 0 ? InstanceBlock$.MODULE$.DefaultBlockSizeInMB() : maxBlockSizeInMB;
    long blockBytes = (long) Math.ceil(megabytes * 1024 * 1024);
    byte[] result =
        new BarrierFit(estimator)
            .run(
                rows, InstanceRows::decode, new RankFit(problem, blockBytes, checkpointInterval()));
    FitResult fit = JavaBytes.read(result, FitResult.class);
    if (fit.fallbackReason() != null) {
      return leaveToSpark(fit.fallbackReason());
    }
    problem.warnings(fit.statistics()).forEach(warning -> LOG.warn("{}: {}", estimator, warning));
    Solution solution = fit.solution();
    FittedNumbers.require(estimator, solution.coefficients());
    if (solution.continuedFrom() > 0) {
      LOG.info(
          "{}: the fit was continued from iteration {}, and ended after {}",
          estimator,
          solution.continuedFrom(),
          solution.objectiveHistory().length - 1);
    }
    return Optional.of(new Fitted(fit.statistics(), solution));
  }

  /** Returns empty, so that Spark's own fit is used, and says why in the log. */
  public Optional<Fitted> leaveToSpark(String why) {
    LOG.info("{}: Spark's own fit is used: {}", estimator, why);
    return Optional.empty();
  }

  private Duration checkpointInterval() {
    String interval =
        dataset.sparkSession().conf().get(CHECKPOINT_INTERVAL, DEFAULT_CHECKPOINT_INTERVAL);
    return Duration.ofMillis(JavaUtils.timeStringAsMs(interval));
  }

  /**
   * What a fit has found.
   *
   * @param statistics of the rows
   * @param solution in the space of the scaled rows
   */
  public record Fitted(Statistics statistics, Solution solution) {}
}
