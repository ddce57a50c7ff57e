package org.sparkcollectives.ml.internal.gradient;

import java.util.Optional;
import org.apache.spark.ml.classification.LinearSVC;
import org.apache.spark.ml.optim.aggregator.HingeBlockAggregator;
import org.sparkcollectives.ml.internal.optim.LocalBroadcast;
import org.sparkcollectives.ml.internal.optim.Minimizer;
import org.sparkcollectives.ml.internal.optim.Objective;
import org.sparkcollectives.ml.internal.rows.Labels;
import org.sparkcollectives.ml.internal.rows.Statistics;

/** A linear support vector machine. */
public final class HingeProblem implements Problem {

  private static final long serialVersionUID = 1;

  private final boolean fitIntercept;
  private final double regularization;
  private final boolean standardization;
  private final int maxIterations;
  private final double tolerance;
  private final int declaredClasses;

  /**
   * Creates the problem.
   *
   * @param declaredClasses how many classes the label's metadata says there are; 0 if it does not
   */
  public HingeProblem(LinearSVC estimator, int declaredClasses) {
    this.fitIntercept = estimator.getFitIntercept();
    this.regularization = estimator.getRegParam();
    this.standardization = estimator.getStandardization();
    this.maxIterations = estimator.getMaxIter();
    this.tolerance = estimator.getTol();
    this.declaredClasses = declaredClasses;
  }

  @Override
  public Labels labels() {
    return Labels.CLASSES;
  }

  @Override
  public Optional<Objective> objective(Statistics statistics) {
    int seen = statistics.histogram().length;
    int classes = declaredClasses == 0 ? seen : declaredClasses;
    if (classes != 2 || seen > 2 || statistics.invalidLabels() > 0) {
      return Optional.empty();
    }
    Scaling scaling = new Scaling(statistics, 1);
    LocalBroadcast<double[]> inverseStd = new LocalBroadcast<>(statistics.inverseStd());
    LocalBroadcast<double[]> scaledMean = new LocalBroadcast<>(statistics.scaledMean());
    double[] start = new double[statistics.features() + (fitIntercept ? 1 : 0)];
    return Optional.of(
        new Objective(
            at -> new HingeBlockAggregator(inverseStd, scaledMean, fitIntercept, at),
            scaling.quadraticPenalty(regularization, standardization),
            Minimizer.owlqn(maxIterations, tolerance, new double[start.length]),
            start));
  }

  /** Returns the coefficients for the rows as they are, and behind them the intercept. */
  public double[] unscale(Statistics statistics, double[] solution) {
    return new Scaling(statistics, 1).unscaleCentred(solution, fitIntercept);
  }
}
