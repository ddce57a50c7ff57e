package org.sparkcollectives.ml.classification;

import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.rdd.RDD;
import org.sparkcollectives.ml.internal.factorization.FactorizationFit;
import scala.Tuple2;

/**
 * Spark's factorization machine for two classes with all iterations in one barrier stage. Params,
 * first coefficients and model are those of {@link
 * org.apache.spark.ml.classification.FMClassifier}, of which this is a subclass. So are the rows of
 * each mini-batch, unless the rows have to be repartitioned.
 *
 * <p>{@link #fit} blocks until its jobs have ended. A job that loses an executor is submitted
 * again, at most three times, and goes on from the last checkpoint. Where no barrier stage can run,
 * or the rows do not fit into the executors' memory, Spark's own code fits, and the log says why.
 */
public class FMClassifier extends org.apache.spark.ml.classification.FMClassifier {

  private static final long serialVersionUID = 1;

  /** Creates an estimator with a random uid. */
  public FMClassifier() {
    this(Identifiable$.MODULE$.randomUID("fmc"));
  }

  /** Creates an estimator. Spark copies and loads estimators by this constructor. */
  public FMClassifier(String uid) {
    super(uid);
    // Spark derives the default from the name of the class, so a subclass would have another one.
    setDefault(
        seed(), (long) org.apache.spark.ml.classification.FMClassifier.class.getName().hashCode());
  }

  /** Returns the estimator that was saved at {@code path}, by this class or by Spark's own. */
  public static FMClassifier load(String path) {
    org.apache.spark.ml.classification.FMClassifier read =
        org.apache.spark.ml.classification.FMClassifier.load(path);
    return read instanceof FMClassifier own
        ? own
        : read.copyValues(new FMClassifier(read.uid()), ParamMap.empty());
  }

  @Override
  public FMClassifier copy(ParamMap extra) {
    return this.<FMClassifier>defaultCopy(extra);
  }

  /** Fits the coefficients; Spark's own fit calls this, and makes the model of what it returns. */
  @Override
  public Tuple2<Vector, double[]> trainImpl(
      RDD<Tuple2<Object, org.apache.spark.mllib.linalg.Vector>> rows, int features, String loss) {
    return FactorizationFit.of(
        this, rows, features, loss, () -> super.trainImpl(rows, features, loss));
  }

  // They return this class, so that a Java program which chains setters only changes an import.

  @Override
  public FMClassifier setFactorSize(int value) {
    super.setFactorSize(value);
    return this;
  }

  @Override
  public FMClassifier setFeaturesCol(String value) {
    super.setFeaturesCol(value);
    return this;
  }

  @Override
  public FMClassifier setFitIntercept(boolean value) {
    super.setFitIntercept(value);
    return this;
  }

  @Override
  public FMClassifier setFitLinear(boolean value) {
    super.setFitLinear(value);
    return this;
  }

  @Override
  public FMClassifier setInitStd(double value) {
    super.setInitStd(value);
    return this;
  }

  @Override
  public FMClassifier setLabelCol(String value) {
    super.setLabelCol(value);
    return this;
  }

  @Override
  public FMClassifier setMaxIter(int value) {
    super.setMaxIter(value);
    return this;
  }

  @Override
  public FMClassifier setMiniBatchFraction(double value) {
    super.setMiniBatchFraction(value);
    return this;
  }

  @Override
  public FMClassifier setPredictionCol(String value) {
    super.setPredictionCol(value);
    return this;
  }

  @Override
  public FMClassifier setProbabilityCol(String value) {
    super.setProbabilityCol(value);
    return this;
  }

  @Override
  public FMClassifier setRawPredictionCol(String value) {
    super.setRawPredictionCol(value);
    return this;
  }

  @Override
  public FMClassifier setRegParam(double value) {
    super.setRegParam(value);
    return this;
  }

  @Override
  public FMClassifier setSeed(long value) {
    super.setSeed(value);
    return this;
  }

  @Override
  public FMClassifier setSolver(String value) {
    super.setSolver(value);
    return this;
  }

  @Override
  public FMClassifier setStepSize(double value) {
    super.setStepSize(value);
    return this;
  }

  @Override
  public FMClassifier setThresholds(double[] value) {
    super.setThresholds(value);
    return this;
  }

  @Override
  public FMClassifier setTol(double value) {
    super.setTol(value);
    return this;
  }
}
