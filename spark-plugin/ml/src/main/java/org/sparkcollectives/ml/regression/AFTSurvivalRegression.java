package org.sparkcollectives.ml.regression;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.concat;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.raise_error;
import static org.apache.spark.sql.functions.when;

import java.util.Arrays;
import java.util.Optional;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.regression.AFTSurvivalRegressionModel;
import org.apache.spark.ml.util.DatasetUtils$;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.sparkcollectives.ml.internal.gradient.GradientFit;
import org.sparkcollectives.ml.internal.gradient.GradientFit.Fitted;
import org.sparkcollectives.ml.internal.gradient.SurvivalProblem;
import org.sparkcollectives.ml.internal.rows.VectorColumn;
import org.sparkcollectives.ml.internal.stage.FittedNumbers;

/**
 * Spark's survival regression with the whole fit in one barrier stage. It has the Params of {@link
 * org.apache.spark.ml.regression.AFTSurvivalRegression}, of which it is a subclass. It fits Spark's
 * own model with, up to rounding, the same coefficients.
 *
 * <p>{@link #fit} blocks until its job has ended. A job that loses an executor is submitted again,
 * at most three times, and goes on from the last checkpoint. Where no barrier stage can run, or the
 * rows do not fit into the executors' memory, Spark's own code fits, and the log says why.
 */
public class AFTSurvivalRegression extends org.apache.spark.ml.regression.AFTSurvivalRegression {

  private static final long serialVersionUID = 1;

  /** Creates an estimator with a random uid. */
  public AFTSurvivalRegression() {
    this(Identifiable$.MODULE$.randomUID("aftSurvReg"));
  }

  /** Creates an estimator. Spark copies and loads estimators by this constructor. */
  public AFTSurvivalRegression(String uid) {
    super(uid);
  }

  /** Returns the estimator that was saved at {@code path}, by this class or by Spark's own. */
  public static AFTSurvivalRegression load(String path) {
    org.apache.spark.ml.regression.AFTSurvivalRegression read =
        org.apache.spark.ml.regression.AFTSurvivalRegression.load(path);
    return read instanceof AFTSurvivalRegression own
        ? own
        : read.copyValues(new AFTSurvivalRegression(read.uid()), ParamMap.empty());
  }

  @Override
  public AFTSurvivalRegression copy(ParamMap extra) {
    return this.<AFTSurvivalRegression>defaultCopy(extra);
  }

  @Override
  public AFTSurvivalRegressionModel train(Dataset<?> dataset) {
    SurvivalProblem problem = new SurvivalProblem(this);
    Dataset<Row> rows =
        dataset.select(
            DatasetUtils$.MODULE$.checkRegressionLabels(getLabelCol()),
            checkedCensor(),
            VectorColumn.checked(col(getFeaturesCol())));
    Optional<Fitted> fitted =
        new GradientFit(uid(), dataset).run(rows, problem, getMaxBlockSizeInMB());
    return fitted.isPresent() ? model(problem, fitted.get()) : super.train(dataset);
  }

  private Column checkedCensor() {
    Column censor = col(getCensorCol()).cast("double");
    return when(
            censor.isNull().or(censor.isNaN()), raise_error(lit("Censors MUST NOT be Null or NaN")))
        .when(
            censor.notEqual(0).and(censor.notEqual(1)),
            raise_error(concat(lit("Censors MUST be in {0, 1}, but got "), censor)))
        .otherwise(censor);
  }

  private AFTSurvivalRegressionModel model(SurvivalProblem problem, Fitted fitted) {
    int features = fitted.statistics().features();
    double[] solution = fitted.solution().coefficients();
    double[] found = problem.unscale(fitted.statistics(), solution);
    FittedNumbers.require(uid(), found);
    return new AFTSurvivalRegressionModel(
        uid(),
        Vectors.dense(Arrays.copyOf(found, features)),
        found[features],
        Math.exp(solution[features + 1]));
  }

  // They return this class, so that a Java program which chains setters only changes an import.

  @Override
  public AFTSurvivalRegression setAggregationDepth(int value) {
    super.setAggregationDepth(value);
    return this;
  }

  @Override
  public AFTSurvivalRegression setCensorCol(String value) {
    super.setCensorCol(value);
    return this;
  }

  @Override
  public AFTSurvivalRegression setFeaturesCol(String value) {
    super.setFeaturesCol(value);
    return this;
  }

  @Override
  public AFTSurvivalRegression setFitIntercept(boolean value) {
    super.setFitIntercept(value);
    return this;
  }

  @Override
  public AFTSurvivalRegression setLabelCol(String value) {
    super.setLabelCol(value);
    return this;
  }

  @Override
  public AFTSurvivalRegression setMaxBlockSizeInMB(double value) {
    super.setMaxBlockSizeInMB(value);
    return this;
  }

  @Override
  public AFTSurvivalRegression setMaxIter(int value) {
    super.setMaxIter(value);
    return this;
  }

  @Override
  public AFTSurvivalRegression setPredictionCol(String value) {
    super.setPredictionCol(value);
    return this;
  }

  @Override
  public AFTSurvivalRegression setQuantileProbabilities(double[] value) {
    super.setQuantileProbabilities(value);
    return this;
  }

  @Override
  public AFTSurvivalRegression setQuantilesCol(String value) {
    super.setQuantilesCol(value);
    return this;
  }

  @Override
  public AFTSurvivalRegression setTol(double value) {
    super.setTol(value);
    return this;
  }
}
