package org.sparkcollectives.ml.regression;

import java.util.Arrays;
import java.util.Optional;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.regression.LinearRegressionModel;
import org.apache.spark.ml.util.DatasetUtils$;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.sql.Dataset;
import org.sparkcollectives.ml.internal.gradient.GradientFit;
import org.sparkcollectives.ml.internal.gradient.GradientFit.Fitted;
import org.sparkcollectives.ml.internal.gradient.LinearProblem;
import org.sparkcollectives.ml.internal.rows.InstanceRows;
import org.sparkcollectives.ml.internal.stage.FittedNumbers;
import scala.Option;

/**
 * Spark's linear regression with the whole fit in one barrier stage. It has the Params of {@link
 * org.apache.spark.ml.regression.LinearRegression}, of which it is a subclass. It fits Spark's own
 * model, with its summary and, up to rounding, the same coefficients.
 *
 * <p><b>By default, with up to 4096 features, Spark's own code fits</b>: it solves the normal
 * equations in one pass over the rows, and nothing could be gained. For a fit that iterates, set
 * the solver {@code l-bfgs} or the loss {@code huber}.
 *
 * <p>{@link #fit} blocks until its job has ended. A job that loses an executor is submitted again,
 * at most three times, and goes on from the last checkpoint. Where no barrier stage can run, or the
 * rows do not fit into the executors' memory, Spark's own code fits, and the log says why.
 */
public class LinearRegression extends org.apache.spark.ml.regression.LinearRegression {

  private static final long serialVersionUID = 1;

  /** Creates an estimator with a random uid. */
  public LinearRegression() {
    this(Identifiable$.MODULE$.randomUID("linReg"));
  }

  /** Creates an estimator. Spark copies and loads estimators by this constructor. */
  public LinearRegression(String uid) {
    super(uid);
  }

  /** Returns the estimator that was saved at {@code path}, by this class or by Spark's own. */
  public static LinearRegression load(String path) {
    org.apache.spark.ml.regression.LinearRegression read =
        org.apache.spark.ml.regression.LinearRegression.load(path);
    return read instanceof LinearRegression own
        ? own
        : read.copyValues(new LinearRegression(read.uid()), ParamMap.empty());
  }

  @Override
  public LinearRegression copy(ParamMap extra) {
    return this.<LinearRegression>defaultCopy(extra);
  }

  @Override
  public LinearRegressionModel train(Dataset<?> dataset) {
    GradientFit fit = new GradientFit(uid(), dataset);
    LinearProblem problem = new LinearProblem(this);
    Optional<Fitted> fitted =
        takesNormalEquations(dataset)
            ? fit.leaveToSpark("the normal equations take one pass over the rows")
            : fit.run(
                InstanceRows.select(
                    dataset,
                    DatasetUtils$.MODULE$.checkRegressionLabels(getLabelCol()),
                    get(weightCol()),
                    getFeaturesCol()),
                problem,
                getMaxBlockSizeInMB());
    return fitted.isPresent() ? model(dataset, problem, fitted.get()) : super.train(dataset);
  }

  private boolean takesNormalEquations(Dataset<?> dataset) {
    if (!getLoss().equals("squaredError") || getSolver().equals("l-bfgs")) {
      return false;
    }
    return getSolver().equals("normal")
        || DatasetUtils$.MODULE$.getNumFeatures(dataset, getFeaturesCol())
            <= org.apache.spark.ml.regression.LinearRegression.MAX_FEATURES_FOR_NORMAL_SOLVER();
  }

  private LinearRegressionModel model(Dataset<?> dataset, LinearProblem problem, Fitted fitted) {
    int features = fitted.statistics().features();
    double[] solution = fitted.solution().coefficients();
    double[] found = problem.unscale(fitted.statistics(), solution);
    FittedNumbers.require(uid(), found);
    LinearRegressionModel model =
        new LinearRegressionModel(
            uid(),
            Vectors.dense(Arrays.copyOf(found, features)).compressed(),
            found[features],
            problem.scale(solution));
    copyValues(model, ParamMap.empty());
    model.setSummary(
        Option.apply(
            LinearSummaries.of(model, dataset, this, fitted.solution().objectiveHistory())));
    return model;
  }

  // They return this class, so that a Java program which chains setters only changes an import.

  @Override
  public LinearRegression setAggregationDepth(int value) {
    super.setAggregationDepth(value);
    return this;
  }

  @Override
  public LinearRegression setElasticNetParam(double value) {
    super.setElasticNetParam(value);
    return this;
  }

  @Override
  public LinearRegression setEpsilon(double value) {
    super.setEpsilon(value);
    return this;
  }

  @Override
  public LinearRegression setFeaturesCol(String value) {
    super.setFeaturesCol(value);
    return this;
  }

  @Override
  public LinearRegression setFitIntercept(boolean value) {
    super.setFitIntercept(value);
    return this;
  }

  @Override
  public LinearRegression setLabelCol(String value) {
    super.setLabelCol(value);
    return this;
  }

  @Override
  public LinearRegression setLoss(String value) {
    super.setLoss(value);
    return this;
  }

  @Override
  public LinearRegression setMaxBlockSizeInMB(double value) {
    super.setMaxBlockSizeInMB(value);
    return this;
  }

  @Override
  public LinearRegression setMaxIter(int value) {
    super.setMaxIter(value);
    return this;
  }

  @Override
  public LinearRegression setPredictionCol(String value) {
    super.setPredictionCol(value);
    return this;
  }

  @Override
  public LinearRegression setRegParam(double value) {
    super.setRegParam(value);
    return this;
  }

  @Override
  public LinearRegression setSolver(String value) {
    super.setSolver(value);
    return this;
  }

  @Override
  public LinearRegression setStandardization(boolean value) {
    super.setStandardization(value);
    return this;
  }

  @Override
  public LinearRegression setTol(double value) {
    super.setTol(value);
    return this;
  }

  @Override
  public LinearRegression setWeightCol(String value) {
    super.setWeightCol(value);
    return this;
  }
}
