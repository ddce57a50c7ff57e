package org.sparkcollectives.ml.internal.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.SparkException;
import org.apache.spark.ml.Estimator;
import org.apache.spark.ml.Model;
import org.apache.spark.ml.classification.FMClassificationModel;
import org.apache.spark.ml.classification.LinearSVCModel;
import org.apache.spark.ml.classification.LogisticRegressionModel;
import org.apache.spark.ml.clustering.GaussianMixtureModel;
import org.apache.spark.ml.clustering.KMeansModel;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.regression.AFTSurvivalRegressionModel;
import org.apache.spark.ml.regression.FMRegressionModel;
import org.apache.spark.ml.regression.LinearRegressionModel;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.ml.classification.FMClassifier;
import org.sparkcollectives.ml.classification.LinearSVC;
import org.sparkcollectives.ml.classification.LogisticRegression;
import org.sparkcollectives.ml.clustering.GaussianMixture;
import org.sparkcollectives.ml.clustering.KMeans;
import org.sparkcollectives.ml.regression.AFTSurvivalRegression;
import org.sparkcollectives.ml.regression.FMRegressor;
import org.sparkcollectives.ml.regression.LinearRegression;
import org.sparkcollectives.ml.testing.GeneratedRows;
import org.sparkcollectives.ml.testing.LocalCluster;

/** Tests that no estimator returns a model that has a NaN. */
@ExtendWith(LocalCluster.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FittedNumbersTest {

  /** The square of such a feature is no double. */
  private static final double HUGE = 1e200;

  private static final int ITERATIONS = 3;

  private final Dataset<Row> huge;

  FittedNumbersTest(SparkSession spark) {
    huge =
        GeneratedRows.of(spark, 40)
            .withColumn(
                "features",
                functions
                    .udf(
                        (UDF1<Vector, Vector>)
                            features ->
                                Vectors.dense(
                                    Arrays.stream(features.toArray()).map(x -> x * HUGE).toArray()),
                        SQLDataTypes.VectorType())
                    .apply(functions.col("features")))
            .cache();
  }

  static Stream<Estimator<?>> estimators() {
    return Stream.of(
        new LogisticRegression().setLabelCol("binary").setMaxIter(ITERATIONS),
        new LinearSVC().setLabelCol("binary").setMaxIter(ITERATIONS),
        new LinearRegression().setSolver("l-bfgs").setLabelCol("value").setMaxIter(ITERATIONS),
        new AFTSurvivalRegression().setLabelCol("time").setMaxIter(ITERATIONS),
        new FMRegressor().setLabelCol("value").setMaxIter(ITERATIONS),
        new FMClassifier().setLabelCol("binary").setMaxIter(ITERATIONS),
        new KMeans().setMaxIter(ITERATIONS),
        new GaussianMixture().setMaxIter(ITERATIONS));
  }

  /** Returns the numbers of a model, as text. */
  private static List<String> numbers(Model<?> model) {
    if (model instanceof LogisticRegressionModel logistic) {
      return List.of(
          logistic.coefficientMatrix().toString(), logistic.interceptVector().toString());
    } else if (model instanceof LinearSVCModel svc) {
      return List.of(svc.coefficients().toString(), String.valueOf(svc.intercept()));
    } else if (model instanceof LinearRegressionModel linear) {
      return List.of(linear.coefficients().toString(), String.valueOf(linear.intercept()));
    } else if (model instanceof AFTSurvivalRegressionModel survival) {
      return List.of(survival.coefficients().toString(), String.valueOf(survival.scale()));
    } else if (model instanceof FMRegressionModel machine) {
      return List.of(machine.linear().toString(), machine.factors().toString());
    } else if (model instanceof FMClassificationModel machine) {
      return List.of(machine.linear().toString(), machine.factors().toString());
    } else if (model instanceof KMeansModel means) {
      return List.of(Arrays.toString(means.clusterCenters()));
    }
    GaussianMixtureModel mixture = (GaussianMixtureModel) model;
    return Stream.concat(
            Stream.of(Arrays.toString(mixture.weights())),
            Arrays.stream(mixture.gaussians()).map(each -> each.mean() + " " + each.cov()))
        .toList();
  }

  @ParameterizedTest
  @MethodSource("estimators")
  void aFitOfHugeFeaturesFailsOrHasAModelOfNumbers(Estimator<?> estimator) {
    Model<?> model;
    try {
      model = estimator.fit(huge);
    } catch (Exception e) { // Also checked ones, which Scala does not declare.
      assertThat(e).isNotInstanceOf(NullPointerException.class);
      return;
    }
    assertThat(numbers(model)).noneMatch(text -> text.contains("NaN"));
  }

  @Test
  void aFitThatEndsInNaNSaysWhatLeadsToIt() {
    assertThatThrownBy(() -> FittedNumbers.require("fm_1", new double[] {1, Double.NaN}))
        .isInstanceOf(SparkException.class)
        .hasMessageContaining("fm_1: the fit has ended in NaN");
    FittedNumbers.require("fm_1", new double[] {1, Double.POSITIVE_INFINITY});
  }
}
