package org.sparkcollectives.ml.internal.gradient;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.ml.classification.LogisticRegression;
import org.apache.spark.ml.classification.LogisticRegressionModel;
import org.apache.spark.ml.linalg.Matrix;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.optim.aggregator.BinaryLogisticBlockAggregator;
import org.apache.spark.ml.optim.aggregator.MultinomialLogisticBlockAggregator;
import org.sparkcollectives.ml.internal.optim.LocalBroadcast;
import org.sparkcollectives.ml.internal.optim.Minimizer;
import org.sparkcollectives.ml.internal.optim.Objective;
import org.sparkcollectives.ml.internal.rows.Labels;
import org.sparkcollectives.ml.internal.rows.Statistics;

/** Logistic regression of two classes with one set of coefficients, or of any with a set each. */
public final class LogisticProblem implements Problem {

  private static final long serialVersionUID = 1;

  private final LogisticParams params;
  private final int declaredClasses;

  /** The start, where a model was given; else null. */
  private final Matrix initialCoefficients;

  private final Vector initialIntercepts;

  /** Whether the start has an intercept if, and only if, one is to be fitted. */
  private final boolean initialHasSameIntercept;

  /**
   * Creates the problem.
   *
   * @param declaredClasses how many classes the label's metadata says there are; 0 if it does not
   * @param initial the model from whose coefficients to start, if it has their shape
   */
  public LogisticProblem(
      LogisticRegression estimator,
      int declaredClasses,
      Optional<LogisticRegressionModel> initial) {
    this.params = LogisticParams.of(estimator);
    this.declaredClasses = declaredClasses;
    this.initialCoefficients = initial.map(LogisticRegressionModel::coefficientMatrix).orElse(null);
    this.initialIntercepts = initial.map(LogisticRegressionModel::interceptVector).orElse(null);
    this.initialHasSameIntercept =
        initial.filter(model -> model.getFitIntercept() == params.fitIntercept()).isPresent();
  }

  @Override
  public Labels labels() {
    return Labels.CLASSES;
  }

  /** Returns how many classes there are. */
  public int classes(Statistics statistics) {
    return declaredClasses == 0 ? statistics.histogram().length : declaredClasses;
  }

  /** Returns whether each class has its own coefficients. */
  public boolean isMultinomial(Statistics statistics) {
    return params.isMultinomial(classes(statistics));
  }

  @Override
  public Optional<Objective> objective(Statistics statistics) {
    int classes = classes(statistics);
    int sets = isMultinomial(statistics) ? classes : 1;
    if (statistics.invalidLabels() > 0
        || classes < statistics.histogram().length
        || !params.allow(classes)
        || !params.bounds().match(sets, statistics.features())
        || endsAtOnce(statistics)) {
      return Optional.empty();
    }
    return Optional.of(objective(statistics, sets));
  }

  /** Returns whether one class alone has weight, so that an infinite intercept explains it. */
  private boolean endsAtOnce(Statistics statistics) {
    if (statistics.histogram().length < 2) {
      return true;
    }
    return params.fitIntercept() && presentClasses(statistics) == 1 && params.bounds().isEmpty();
  }

  private Objective objective(Statistics statistics, int sets) {
    Scaling scaling = new Scaling(statistics, sets);
    LocalBroadcast<double[]> inverseStd = new LocalBroadcast<>(statistics.inverseStd());
    LocalBroadcast<double[]> scaledMean = new LocalBroadcast<>(statistics.scaledMean());
    boolean intercept = params.fitIntercept();
    boolean centred = isCentred();
    double[] start = start(statistics, sets);
    CoefficientBounds bounds = params.bounds();
    double[] lower = bounds.lower(sets, intercept, statistics.std());
    double[] upper = bounds.upper(sets, intercept, statistics.std());
    if (!bounds.isEmpty()) {
      for (int i = 0; i < start.length; i++) {
        start[i] = start[i] < lower[i] ? lower[i] : start[i] > upper[i] ? upper[i] : start[i];
      }
    }
    if (centred) {
      scaling.shiftIntercepts(start, 1);
    }
    return new Objective(
        isMultinomial(statistics)
            ? at ->
                new MultinomialLogisticBlockAggregator(
                    inverseStd, scaledMean, intercept, centred, at)
            : at ->
                new BinaryLogisticBlockAggregator(inverseStd, scaledMean, intercept, centred, at),
        scaling.quadraticPenalty(
            (1 - params.elasticNet()) * params.regularization(), params.standardization()),
        minimizer(scaling, lower, upper),
        start);
  }

  private Minimizer minimizer(Scaling scaling, double[] lower, double[] upper) {
    double absolute = params.elasticNet() * params.regularization();
    if (params.elasticNet() != 0 && params.regularization() != 0) {
      return Minimizer.owlqn(
          params.maxIterations(),
          params.tolerance(),
          scaling.absolutePenalties(absolute, params.standardization(), lower.length));
    }
    return params.bounds().isEmpty()
        ? Minimizer.lbfgs(params.maxIterations(), params.tolerance())
        : Minimizer.lbfgsb(params.maxIterations(), params.tolerance(), lower, upper);
  }

  /** Bounds on intercepts are those of features that are not centred. */
  private boolean isCentred() {
    return params.fitIntercept() && params.bounds().leaveInterceptsFree();
  }

  private boolean startsFromInitial(int sets, int features) {
    return initialHasSameIntercept
        && initialCoefficients.numRows() == sets
        && initialCoefficients.numCols() == features
        && initialIntercepts.size() == sets;
  }

  @Override
  public List<String> warnings(Statistics statistics) {
    int sets = isMultinomial(statistics) ? classes(statistics) : 1;
    int features = statistics.features();
    List<String> warnings = new ArrayList<>();
    if (!params.fitIntercept() && presentClasses(statistics) == 1) {
      warnings.add(
          "All labels belong to a single class and fitIntercept=false. It's a dangerous ground, so"
              + " the algorithm may not converge.");
    }
    if (!params.fitIntercept() && statistics.hasConstantFeature()) {
      warnings.add(
          "Fitting LogisticRegressionModel without intercept on dataset with constant nonzero"
              + " column, Spark MLlib outputs zero coefficients for constant nonzero columns. This"
              + " behavior is the same as R glmnet but different from LIBSVM.");
    }
    if (initialCoefficients != null && !startsFromInitial(sets, features)) {
      warnings.add(
          "Initial coefficients will be ignored! Its dimensions ("
              + initialCoefficients.numRows()
              + ", "
              + initialCoefficients.numCols()
              + ") did not match the expected size ("
              + sets
              + ", "
              + features
              + ")");
    }
    return warnings;
  }

  private static long presentClasses(Statistics statistics) {
    return Arrays.stream(statistics.histogram()).filter(weight -> weight != 0).count();
  }

  private double[] start(Statistics statistics, int sets) {
    int features = statistics.features();
    double[] start = new double[sets * (features + (params.fitIntercept() ? 1 : 0))];
    if (startsFromInitial(sets, features)) {
      for (int j = 0; j < features; j++) {
        for (int k = 0; k < sets; k++) {
          start[j * sets + k] = initialCoefficients.apply(k, j) * statistics.std()[j];
        }
      }
      if (params.fitIntercept()) {
        System.arraycopy(initialIntercepts.toArray(), 0, start, features * sets, sets);
      }
    } else if (params.fitIntercept()) {
      System.arraycopy(intercepts(statistics, sets), 0, start, features * sets, sets);
    }
    return start;
  }

  /** Returns those that explain the classes' weights without any feature. */
  private double[] intercepts(Statistics statistics, int sets) {
    double[] weights = statistics.histogram();
    if (!isMultinomial(statistics)) {
      return new double[] {Math.log(weights[1] / weights[0])};
    }
    double[] logs = new double[sets];
    double sum = 0;
    for (int k = 0; k < weights.length; k++) {
      logs[k] = Math.log1p(weights[k]);
      sum += logs[k];
    }
    double mean = sum / weights.length;
    for (int k = 0; k < weights.length; k++) {
      logs[k] -= mean;
    }
    return logs;
  }

  /** Returns the coefficients for the rows as they are: a row for each set, intercepts last. */
  public double[][] unscale(Statistics statistics, double[] solution) {
    int sets = isMultinomial(statistics) ? classes(statistics) : 1;
    int features = statistics.features();
    double[] found = solution.clone();
    Scaling scaling = new Scaling(statistics, sets);
    if (isCentred()) {
      scaling.shiftIntercepts(found, -1);
    }
    double[][] rows = new double[sets][];
    for (int k = 0; k < sets; k++) {
      rows[k] = Arrays.copyOf(scaling.unscale(found, k), features + 1);
      rows[k][features] = params.fitIntercept() ? found[features * sets + k] : 0;
    }
    if (isMultinomial(statistics) && params.bounds().isEmpty()) {
      centre(rows, features);
    }
    return rows;
  }

  /**
   * Takes what all classes have in common from the coefficients, where no penalty decides on it,
   * and from the intercepts, on which there is none.
   */
  private void centre(double[][] rows, int features) {
    int from = params.regularization() == 0 ? 0 : features;
    int to = params.fitIntercept() ? features + 1 : features;
    for (int j = from; j < to; j++) {
      double sum = 0;
      for (double[] row : rows) {
        sum += row[j];
      }
      double mean = sum / rows.length;
      for (double[] row : rows) {
        row[j] -= mean;
      }
    }
  }
}
