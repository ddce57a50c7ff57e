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
import scala.Option;

/**
 * Spark's linear regression with the whole fit in one barrier stage. It has the same Params, gives
 * Spark's own model with its summary, and finds the same coefficients.
 *
 * <p>The normal equations, which Spark's solver {@code auto} takes for up to 4096 features, need
 * one pass over the rows; they are left to Spark's own estimator. Set the solver {@code l-bfgs}, or
 * the loss {@code huber}, for a fit that iterates. Blocking and retry are as for {@link
 * AFTSurvivalRegression}.
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

  /** Reads an estimator that {@link #save} has written, be it of this class or Spark's own. */
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
            ? fit.refuse("the normal equations take one pass over the rows")
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
}
