package org.sparkcollectives.ml.internal.gradient;

import java.util.List;
import java.util.Optional;
import org.apache.spark.ml.optim.aggregator.AFTBlockAggregator;
import org.apache.spark.ml.regression.AFTSurvivalRegression;
import org.sparkcollectives.ml.internal.optim.LocalBroadcast;
import org.sparkcollectives.ml.internal.optim.Minimizer;
import org.sparkcollectives.ml.internal.optim.Objective;
import org.sparkcollectives.ml.internal.rows.Labels;
import org.sparkcollectives.ml.internal.rows.Statistics;

/**
 * The accelerated failure time model. Behind the coefficients are an intercept, whether it is
 * fitted or not, and the logarithm of the scale.
 */
public final class SurvivalProblem implements Problem {

  private static final long serialVersionUID = 1;

  private final boolean fitIntercept;
  private final int maxIterations;
  private final double tolerance;

  /** Creates the problem. */
  public SurvivalProblem(AFTSurvivalRegression estimator) {
    this.fitIntercept = estimator.getFitIntercept();
    this.maxIterations = estimator.getMaxIter();
    this.tolerance = estimator.getTol();
  }

  @Override
  public Labels labels() {
    return Labels.TIMES;
  }

  @Override
  public Optional<Objective> objective(Statistics statistics) {
    LocalBroadcast<double[]> scaledMean = new LocalBroadcast<>(statistics.scaledMean());
    return Optional.of(
        new Objective(
            at -> new AFTBlockAggregator(scaledMean, fitIntercept, at),
            Optional.empty(),
            Minimizer.lbfgs(maxIterations, tolerance),
            new double[statistics.features() + 2]));
  }

  @Override
  public List<String> warnings(Statistics statistics) {
    return fitIntercept || !statistics.hasConstantFeature()
        ? List.of()
        : List.of(
            "Fitting AFTSurvivalRegressionModel without intercept on dataset with constant nonzero"
                + " column, Spark MLlib outputs zero coefficients for constant nonzero columns."
                + " This behavior is different from R survival::survreg.");
  }

  /** Returns the coefficients for the rows as they are, and behind them the intercept. */
  public double[] unscale(Statistics statistics, double[] solution) {
    double[] found = new Scaling(statistics, 1).unscaleCentred(solution, fitIntercept);
    if (!fitIntercept) {
      found[statistics.features()] = solution[statistics.features()];
    }
    return found;
  }
}
