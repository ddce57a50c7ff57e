package org.sparkcollectives.ml.internal.gradient;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.ml.linalg.BLAS$;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.optim.aggregator.HuberBlockAggregator;
import org.apache.spark.ml.optim.aggregator.LeastSquaresBlockAggregator;
import org.apache.spark.ml.regression.LinearRegression;
import org.sparkcollectives.ml.internal.optim.LocalBroadcast;
import org.sparkcollectives.ml.internal.optim.Minimizer;
import org.sparkcollectives.ml.internal.optim.Objective;
import org.sparkcollectives.ml.internal.rows.Labels;
import org.sparkcollectives.ml.internal.rows.Statistics;

/**
 * Linear regression, by squared errors or by Huber's loss, which takes large errors less seriously
 * and has the scale of the errors behind the coefficients.
 */
public final class LinearProblem implements Problem {

  private static final long serialVersionUID = 1;

  private final boolean huber;
  private final double epsilon;
  private final boolean fitIntercept;
  private final double regularization;
  private final double elasticNet;
  private final boolean standardization;
  private final int maxIterations;
  private final double tolerance;

  /** Creates the problem. */
  public LinearProblem(LinearRegression estimator) {
    this.huber = estimator.getLoss().equals("huber");
    this.epsilon = estimator.getEpsilon();
    this.fitIntercept = estimator.getFitIntercept();
    this.regularization = estimator.getRegParam();
    this.elasticNet = estimator.getElasticNetParam();
    this.standardization = estimator.getStandardization();
    this.maxIterations = estimator.getMaxIter();
    this.tolerance = estimator.getTol();
  }

  @Override
  public Labels labels() {
    return Labels.VALUES;
  }

  @Override
  public Optional<Objective> objective(Statistics statistics) {
    if (!(statistics.labelStd() > 0)) {
      return Optional.empty();
    }
    return Optional.of(huber ? huber(statistics) : leastSquares(statistics));
  }

  private Objective leastSquares(Statistics statistics) {
    Scaling scaling = new Scaling(statistics, 1);
    LocalBroadcast<double[]> inverseStd = new LocalBroadcast<>(statistics.inverseStd());
    LocalBroadcast<double[]> scaledMean = new LocalBroadcast<>(statistics.scaledMean());
    double labelStd = statistics.labelStd();
    double labelMean = statistics.labelMean();
    double penalty = regularization / labelStd;
    double[] start = new double[statistics.features()];
    return new Objective(
        at ->
            new LeastSquaresBlockAggregator(
                inverseStd, scaledMean, fitIntercept, labelStd, labelMean, at),
        scaling.quadraticPenalty((1 - elasticNet) * penalty, standardization),
        elasticNet == 0 || penalty == 0
            ? Minimizer.lbfgs(maxIterations, tolerance)
            : Minimizer.owlqn(
                maxIterations,
                tolerance,
                scaling.absolutePenalties(elasticNet * penalty, standardization, start.length)),
        start);
  }

  private Objective huber(Statistics statistics) {
    Scaling scaling = new Scaling(statistics, 1);
    LocalBroadcast<double[]> inverseStd = new LocalBroadcast<>(statistics.inverseStd());
    LocalBroadcast<double[]> scaledMean = new LocalBroadcast<>(statistics.scaledMean());
    double[] start = new double[statistics.features() + (fitIntercept ? 2 : 1)];
    Arrays.fill(start, 1);
    if (fitIntercept) {
      scaling.shiftIntercepts(start, 1);
    }
    double[] lower = new double[start.length];
    Arrays.fill(lower, -Double.MAX_VALUE);
    lower[start.length - 1] = Double.MIN_VALUE; // The scale is above 0.
    double[] upper = new double[start.length];
    Arrays.fill(upper, Double.MAX_VALUE);
    return new Objective(
        at -> new HuberBlockAggregator(inverseStd, scaledMean, fitIntercept, epsilon, at),
        scaling.quadraticPenalty((1 - elasticNet) * regularization, standardization),
        Minimizer.lbfgsb(maxIterations, tolerance, lower, upper),
        start);
  }

  @Override
  public List<String> warnings(Statistics statistics) {
    return fitIntercept || !statistics.hasConstantFeature()
        ? List.of()
        : List.of(
            "Fitting LinearRegressionModel without intercept on dataset with constant nonzero"
                + " column, Spark MLlib outputs zero coefficients for constant nonzero columns."
                + " This behavior is the same as R glmnet but different from LIBSVM.");
  }

  /** Returns the coefficients for the rows as they are, and behind them the intercept. */
  public double[] unscale(Statistics statistics, double[] solution) {
    int features = statistics.features();
    Scaling scaling = new Scaling(statistics, 1);
    if (huber) {
      return scaling.unscaleCentred(solution, fitIntercept);
    }
    double[] inLabels = solution.clone();
    for (int j = 0; j < features; j++) {
      inLabels[j] *= statistics.labelStd();
    }
    double[] coefficients = scaling.unscale(inLabels, 0);
    double intercept =
        fitIntercept
            ? statistics.labelMean()
                - BLAS$.MODULE$.dot(Vectors.dense(coefficients), Vectors.dense(statistics.mean()))
            : 0;
    double[] found = Arrays.copyOf(coefficients, features + 1);
    found[features] = intercept;
    return found;
  }

  /** Returns the scale of the errors; 1 for squared errors. */
  public double scale(double[] solution) {
    return huber ? solution[solution.length - 1] : 1;
  }
}
