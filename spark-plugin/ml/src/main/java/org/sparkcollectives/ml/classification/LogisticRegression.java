package org.sparkcollectives.ml.classification;

import java.util.Arrays;
import java.util.Optional;
import org.apache.spark.ml.classification.BinaryLogisticRegressionTrainingSummaryImpl;
import org.apache.spark.ml.classification.LogisticRegressionModel;
import org.apache.spark.ml.classification.LogisticRegressionTrainingSummary;
import org.apache.spark.ml.classification.LogisticRegressionTrainingSummaryImpl;
import org.apache.spark.ml.classification.ProbabilisticClassificationModel;
import org.apache.spark.ml.linalg.DenseMatrix;
import org.apache.spark.ml.linalg.Matrix;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.util.DatasetUtils$;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.ml.util.MetadataUtils$;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.sparkcollectives.ml.internal.gradient.GradientFit;
import org.sparkcollectives.ml.internal.gradient.GradientFit.Fitted;
import org.sparkcollectives.ml.internal.gradient.LogisticProblem;
import org.sparkcollectives.ml.internal.rows.InstanceRows;
import org.sparkcollectives.ml.internal.stage.FittedNumbers;
import scala.Option;
import scala.Tuple3;

/**
 * Spark's logistic regression with the whole fit in one barrier stage. It has the Params of {@link
 * org.apache.spark.ml.classification.LogisticRegression}, of which it is a subclass. It fits
 * Spark's own model, with its summary and, up to rounding, the same coefficients.
 *
 * <pre>{@code
 * LogisticRegression logistic = new LogisticRegression().setRegParam(0.01).setMaxIter(100);
 * LogisticRegressionModel model = logistic.fit(rows);
 * }</pre>
 *
 * <p>{@link #fit} blocks until its job has ended. A job that loses an executor is submitted again,
 * at most three times, and goes on from the last checkpoint. Where no barrier stage can run, or the
 * rows do not fit into the executors' memory, Spark's own code fits, and the log says why.
 */
public class LogisticRegression extends org.apache.spark.ml.classification.LogisticRegression {

  private static final long serialVersionUID = 1;

  /** Null where none was set; copies of an estimator have none, as Spark's own. */
  private transient LogisticRegressionModel initialModel;

  /** Creates an estimator with a random uid. */
  public LogisticRegression() {
    this(Identifiable$.MODULE$.randomUID("logreg"));
  }

  /** Creates an estimator. Spark copies and loads estimators by this constructor. */
  public LogisticRegression(String uid) {
    super(uid);
  }

  /** Returns the estimator that was saved at {@code path}, by this class or by Spark's own. */
  public static LogisticRegression load(String path) {
    org.apache.spark.ml.classification.LogisticRegression read =
        org.apache.spark.ml.classification.LogisticRegression.load(path);
    return read instanceof LogisticRegression own
        ? own
        : read.copyValues(new LogisticRegression(read.uid()), ParamMap.empty());
  }

  @Override
  public LogisticRegression setInitialModel(LogisticRegressionModel model) {
    super.setInitialModel(model);
    initialModel = model;
    return this;
  }

  @Override
  public LogisticRegression copy(ParamMap extra) {
    return this.<LogisticRegression>defaultCopy(extra);
  }

  @Override
  public LogisticRegressionModel train(Dataset<?> dataset) {
    Option<Object> declared =
        MetadataUtils$.MODULE$.getNumClasses(dataset.schema().apply(getLabelCol()));
    LogisticProblem problem =
        new LogisticProblem(
            this,
            declared.isDefined() ? (Integer) declared.get() : 0,
            Optional.ofNullable(initialModel));
    Dataset<Row> rows =
        InstanceRows.select(
            dataset,
            DatasetUtils$.MODULE$.checkClassificationLabels(getLabelCol(), Option.empty()),
            get(weightCol()),
            getFeaturesCol());
    Optional<Fitted> fitted =
        new GradientFit(uid(), dataset).run(rows, problem, getMaxBlockSizeInMB());
    return fitted.isPresent() ? model(dataset, problem, fitted.get()) : super.train(dataset);
  }

  private LogisticRegressionModel model(
      Dataset<?> dataset, LogisticProblem problem, Fitted fitted) {
    int features = fitted.statistics().features();
    double[][] rows = problem.unscale(fitted.statistics(), fitted.solution().coefficients());
    Arrays.stream(rows).forEach(row -> FittedNumbers.require(uid(), row));
    double[] coefficients =
        Arrays.stream(rows).flatMapToDouble(row -> Arrays.stream(row, 0, features)).toArray();
    double[] intercepts = Arrays.stream(rows).mapToDouble(row -> row[features]).toArray();
    int classes = problem.classes(fitted.statistics());
    LogisticRegressionModel model =
        new LogisticRegressionModel(
            uid(),
            new DenseMatrix(rows.length, features, coefficients, true).compressed(),
            Vectors.dense(intercepts).compressed(),
            classes,
            problem.isMultinomial(fitted.statistics()));
    copyValues(model, ParamMap.empty());
    LogisticRegressionTrainingSummary summary =
        summary(model, dataset, classes, fitted.solution().objectiveHistory());
    model.setSummary(Option.apply(summary));
    return model;
  }

  private LogisticRegressionTrainingSummary summary(
      LogisticRegressionModel model, Dataset<?> dataset, int classes, double[] history) {
    String weights = isDefined(weightCol()) ? getWeightCol() : "weightCol";
    Tuple3<ProbabilisticClassificationModel<Vector, LogisticRegressionModel>, String, String>
        columns = model.findSummaryModel();
    Dataset<Row> predictions = columns._1().transform(dataset);
    return classes <= 2
        ? new BinaryLogisticRegressionTrainingSummaryImpl(
            predictions,
            columns._2(),
            columns._3(),
            getLabelCol(),
            getFeaturesCol(),
            weights,
            history)
        : new LogisticRegressionTrainingSummaryImpl(
            predictions,
            columns._2(),
            columns._3(),
            getLabelCol(),
            getFeaturesCol(),
            weights,
            history);
  }

  // They return this class, so that a Java program which chains setters only changes an import.

  @Override
  public LogisticRegression setAggregationDepth(int value) {
    super.setAggregationDepth(value);
    return this;
  }

  @Override
  public LogisticRegression setElasticNetParam(double value) {
    super.setElasticNetParam(value);
    return this;
  }

  @Override
  public LogisticRegression setFamily(String value) {
    super.setFamily(value);
    return this;
  }

  @Override
  public LogisticRegression setFeaturesCol(String value) {
    super.setFeaturesCol(value);
    return this;
  }

  @Override
  public LogisticRegression setFitIntercept(boolean value) {
    super.setFitIntercept(value);
    return this;
  }

  @Override
  public LogisticRegression setLabelCol(String value) {
    super.setLabelCol(value);
    return this;
  }

  @Override
  public LogisticRegression setLowerBoundsOnCoefficients(Matrix value) {
    super.setLowerBoundsOnCoefficients(value);
    return this;
  }

  @Override
  public LogisticRegression setLowerBoundsOnIntercepts(Vector value) {
    super.setLowerBoundsOnIntercepts(value);
    return this;
  }

  @Override
  public LogisticRegression setMaxBlockSizeInMB(double value) {
    super.setMaxBlockSizeInMB(value);
    return this;
  }

  @Override
  public LogisticRegression setMaxIter(int value) {
    super.setMaxIter(value);
    return this;
  }

  @Override
  public LogisticRegression setPredictionCol(String value) {
    super.setPredictionCol(value);
    return this;
  }

  @Override
  public LogisticRegression setProbabilityCol(String value) {
    super.setProbabilityCol(value);
    return this;
  }

  @Override
  public LogisticRegression setRawPredictionCol(String value) {
    super.setRawPredictionCol(value);
    return this;
  }

  @Override
  public LogisticRegression setRegParam(double value) {
    super.setRegParam(value);
    return this;
  }

  @Override
  public LogisticRegression setStandardization(boolean value) {
    super.setStandardization(value);
    return this;
  }

  @Override
  public LogisticRegression setThreshold(double value) {
    super.setThreshold(value);
    return this;
  }

  @Override
  public LogisticRegression setThresholds(double[] value) {
    super.setThresholds(value);
    return this;
  }

  @Override
  public LogisticRegression setTol(double value) {
    super.setTol(value);
    return this;
  }

  @Override
  public LogisticRegression setUpperBoundsOnCoefficients(Matrix value) {
    super.setUpperBoundsOnCoefficients(value);
    return this;
  }

  @Override
  public LogisticRegression setUpperBoundsOnIntercepts(Vector value) {
    super.setUpperBoundsOnIntercepts(value);
    return this;
  }

  @Override
  public LogisticRegression setWeightCol(String value) {
    super.setWeightCol(value);
    return this;
  }
}
