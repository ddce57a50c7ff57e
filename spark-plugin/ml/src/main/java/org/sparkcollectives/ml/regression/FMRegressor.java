package org.sparkcollectives.ml.regression;

import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.rdd.RDD;
import org.sparkcollectives.ml.internal.factorization.FactorizationFit;
import scala.Tuple2;

/**
 * Spark's factorization machine for regression with all iterations in one barrier stage. Params,
 * first coefficients and model are those of {@link org.apache.spark.ml.regression.FMRegressor}, of
 * which this is a subclass. So are the rows of each mini-batch, unless the rows have to be
 * repartitioned.
 *
 * <p>{@link #fit} blocks until its jobs have ended. A job that loses an executor is submitted
 * again, at most three times, and goes on from the last checkpoint. Where no barrier stage can run,
 * or the rows do not fit into the executors' memory, Spark's own code fits, and the log says why.
 */
public class FMRegressor extends org.apache.spark.ml.regression.FMRegressor {

  private static final long serialVersionUID = 1;

  /** Creates an estimator with a random uid. */
  public FMRegressor() {
    this(Identifiable$.MODULE$.randomUID("fmr"));
  }

  /** Creates an estimator. Spark copies and loads estimators by this constructor. */
  public FMRegressor(String uid) {
    super(uid);
    // Spark derives the default from the name of the class, so a subclass would have another one.
    setDefault(
        seed(), (long) org.apache.spark.ml.regression.FMRegressor.class.getName().hashCode());
  }

  /** Returns the estimator that was saved at {@code path}, by this class or by Spark's own. */
  public static FMRegressor load(String path) {
    org.apache.spark.ml.regression.FMRegressor read =
        org.apache.spark.ml.regression.FMRegressor.load(path);
    return read instanceof FMRegressor own
        ? own
        : read.copyValues(new FMRegressor(read.uid()), ParamMap.empty());
  }

  @Override
  public FMRegressor copy(ParamMap extra) {
    return this.<FMRegressor>defaultCopy(extra);
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
  public FMRegressor setFactorSize(int value) {
    super.setFactorSize(value);
    return this;
  }

  @Override
  public FMRegressor setFeaturesCol(String value) {
    super.setFeaturesCol(value);
    return this;
  }

  @Override
  public FMRegressor setFitIntercept(boolean value) {
    super.setFitIntercept(value);
    return this;
  }

  @Override
  public FMRegressor setFitLinear(boolean value) {
    super.setFitLinear(value);
    return this;
  }

  @Override
  public FMRegressor setInitStd(double value) {
    super.setInitStd(value);
    return this;
  }

  @Override
  public FMRegressor setLabelCol(String value) {
    super.setLabelCol(value);
    return this;
  }

  @Override
  public FMRegressor setMaxIter(int value) {
    super.setMaxIter(value);
    return this;
  }

  @Override
  public FMRegressor setMiniBatchFraction(double value) {
    super.setMiniBatchFraction(value);
    return this;
  }

  @Override
  public FMRegressor setPredictionCol(String value) {
    super.setPredictionCol(value);
    return this;
  }

  @Override
  public FMRegressor setRegParam(double value) {
    super.setRegParam(value);
    return this;
  }

  @Override
  public FMRegressor setSeed(long value) {
    super.setSeed(value);
    return this;
  }

  @Override
  public FMRegressor setSolver(String value) {
    super.setSolver(value);
    return this;
  }

  @Override
  public FMRegressor setStepSize(double value) {
    super.setStepSize(value);
    return this;
  }

  @Override
  public FMRegressor setTol(double value) {
    super.setTol(value);
    return this;
  }
}
