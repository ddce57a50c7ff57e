package org.sparkcollectives.ml.classification;

import java.util.Arrays;
import java.util.Optional;
import org.apache.spark.ml.classification.ClassificationModel;
import org.apache.spark.ml.classification.LinearSVCModel;
import org.apache.spark.ml.classification.LinearSVCTrainingSummary;
import org.apache.spark.ml.classification.LinearSVCTrainingSummaryImpl;
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
import org.sparkcollectives.ml.internal.gradient.HingeProblem;
import org.sparkcollectives.ml.internal.rows.InstanceRows;
import org.sparkcollectives.ml.internal.stage.FittedNumbers;
import scala.Option;
import scala.Tuple3;

/**
 * Spark's linear support vector machine with the whole fit in one barrier stage. It has the Params
 * of {@link org.apache.spark.ml.classification.LinearSVC}, of which it is a subclass. It fits
 * Spark's own model, with its summary and, up to rounding, the same coefficients.
 *
 * <p>{@link #fit} blocks until its job has ended. A job that loses an executor is submitted again,
 * at most three times, and goes on from the last checkpoint. Where no barrier stage can run, or the
 * rows do not fit into the executors' memory, Spark's own code fits, and the log says why.
 */
public class LinearSVC extends org.apache.spark.ml.classification.LinearSVC {

  private static final long serialVersionUID = 1;

  /** Creates an estimator with a random uid. */
  public LinearSVC() {
    this(Identifiable$.MODULE$.randomUID("linearsvc"));
  }

  /** Creates an estimator. Spark copies and loads estimators by this constructor. */
  public LinearSVC(String uid) {
    super(uid);
  }

  /** Returns the estimator that was saved at {@code path}, by this class or by Spark's own. */
  public static LinearSVC load(String path) {
    org.apache.spark.ml.classification.LinearSVC read =
        org.apache.spark.ml.classification.LinearSVC.load(path);
    return read instanceof LinearSVC own
        ? own
        : read.copyValues(new LinearSVC(read.uid()), ParamMap.empty());
  }

  @Override
  public LinearSVC copy(ParamMap extra) {
    return this.<LinearSVC>defaultCopy(extra);
  }

  @Override
  public LinearSVCModel train(Dataset<?> dataset) {
    Option<Object> declared =
        MetadataUtils$.MODULE$.getNumClasses(dataset.schema().apply(getLabelCol()));
    HingeProblem problem =
        new HingeProblem(this, declared.isDefined() ? (Integer) declared.get() : 0);
    Dataset<Row> rows =
        InstanceRows.select(
            dataset,
            DatasetUtils$.MODULE$.checkClassificationLabels(getLabelCol(), Option.apply(2)),
            get(weightCol()),
            getFeaturesCol());
    Optional<Fitted> fitted =
        new GradientFit(uid(), dataset).run(rows, problem, getMaxBlockSizeInMB());
    return fitted.isPresent() ? model(dataset, problem, fitted.get()) : super.train(dataset);
  }

  private LinearSVCModel model(Dataset<?> dataset, HingeProblem problem, Fitted fitted) {
    int features = fitted.statistics().features();
    double[] found = problem.unscale(fitted.statistics(), fitted.solution().coefficients());
    FittedNumbers.require(uid(), found);
    LinearSVCModel model =
        new LinearSVCModel(
            uid(), Vectors.dense(Arrays.copyOf(found, features)).compressed(), found[features]);
    copyValues(model, ParamMap.empty());
    Tuple3<ClassificationModel<Vector, LinearSVCModel>, String, String> columns =
        model.findSummaryModel();
    LinearSVCTrainingSummary summary =
        new LinearSVCTrainingSummaryImpl(
            columns._1().transform(dataset),
            columns._2(),
            columns._3(),
            getLabelCol(),
            isDefined(weightCol()) ? getWeightCol() : "weightCol",
            fitted.solution().objectiveHistory());
    model.setSummary(Option.apply(summary));
    return model;
  }

  // They return this class, so that a Java program which chains setters only changes an import.

  @Override
  public LinearSVC setAggregationDepth(int value) {
    super.setAggregationDepth(value);
    return this;
  }

  @Override
  public LinearSVC setFeaturesCol(String value) {
    super.setFeaturesCol(value);
    return this;
  }

  @Override
  public LinearSVC setFitIntercept(boolean value) {
    super.setFitIntercept(value);
    return this;
  }

  @Override
  public LinearSVC setLabelCol(String value) {
    super.setLabelCol(value);
    return this;
  }

  @Override
  public LinearSVC setMaxBlockSizeInMB(double value) {
    super.setMaxBlockSizeInMB(value);
    return this;
  }

  @Override
  public LinearSVC setMaxIter(int value) {
    super.setMaxIter(value);
    return this;
  }

  @Override
  public LinearSVC setPredictionCol(String value) {
    super.setPredictionCol(value);
    return this;
  }

  @Override
  public LinearSVC setRawPredictionCol(String value) {
    super.setRawPredictionCol(value);
    return this;
  }

  @Override
  public LinearSVC setRegParam(double value) {
    super.setRegParam(value);
    return this;
  }

  @Override
  public LinearSVC setStandardization(boolean value) {
    super.setStandardization(value);
    return this;
  }

  @Override
  public LinearSVC setThreshold(double value) {
    super.setThreshold(value);
    return this;
  }

  @Override
  public LinearSVC setTol(double value) {
    super.setTol(value);
    return this;
  }

  @Override
  public LinearSVC setWeightCol(String value) {
    super.setWeightCol(value);
    return this;
  }
}
