package org.sparkcollectives.ml.regression;

import java.lang.reflect.Constructor;
import java.util.Arrays;
import org.apache.spark.ml.regression.LinearRegressionModel;
import org.apache.spark.ml.regression.LinearRegressionTrainingSummary;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import scala.Tuple2;

/** Makes Spark's summary of a linear regression, whose constructor is another one since 4.1. */
final class LinearSummaries {

  private static final Constructor<?> CONSTRUCTOR =
      LinearRegressionTrainingSummary.class.getConstructors()[0];

  /** How many arguments the constructor takes in Spark 4.0 and before. */
  private static final int WITH_MODEL = 7;

  private LinearSummaries() {}

  static LinearRegressionTrainingSummary of(
      LinearRegressionModel model,
      Dataset<?> dataset,
      LinearRegression estimator,
      double[] objectiveHistory) {
    Tuple2<LinearRegressionModel, String> columns = model.findSummaryModelAndPredictionCol();
    Dataset<Row> predictions = columns._1().transform(dataset);
    String label = estimator.getLabelCol();
    String features = estimator.getFeaturesCol();
    double[] none = {0};
    Object[] arguments =
        CONSTRUCTOR.getParameterCount() == WITH_MODEL
            ? new Object[] {
              predictions, columns._2(), label, features, model, none, objectiveHistory
            }
            : new Object[] {
              predictions,
              columns._2(),
              label,
              features,
              estimator.isDefined(estimator.weightCol()) ? estimator.getWeightCol() : "",
              model.numFeatures(),
              model.getFitIntercept(),
              none,
              objectiveHistory,
              withIntercept(model)
            };
    try {
      return (LinearRegressionTrainingSummary) CONSTRUCTOR.newInstance(arguments);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("Spark's summary cannot be made: " + CONSTRUCTOR, e);
    }
  }

  private static double[] withIntercept(LinearRegressionModel model) {
    double[] coefficients = model.coefficients().toArray();
    if (!model.getFitIntercept()) {
      return coefficients;
    }
    double[] all = Arrays.copyOf(coefficients, coefficients.length + 1);
    all[coefficients.length] = model.intercept();
    return all;
  }
}
