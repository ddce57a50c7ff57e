package org.sparkcollectives.ml.regression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkcollectives.ml.testing.Closeness.assertClose;
import static org.sparkcollectives.ml.testing.Closeness.assertSameParams;
import static org.sparkcollectives.ml.testing.Closeness.names;

import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.spark.ml.regression.LinearRegressionModel;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.ml.testing.GeneratedRows;
import org.sparkcollectives.ml.testing.LocalCluster;
import org.sparkcollectives.ml.testing.LogLines;

@ExtendWith(LocalCluster.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LinearRegressionTest {

  private final Dataset<Row> rows;

  LinearRegressionTest(SparkSession spark) {
    rows = GeneratedRows.of(spark, 120).cache();
  }

  static Stream<Consumer<org.apache.spark.ml.regression.LinearRegression>> params() {
    return Stream.of(
        lr -> lr.setSolver("l-bfgs").setRegParam(0.1),
        lr ->
            lr.setSolver("l-bfgs")
                .setRegParam(0.1)
                .setElasticNetParam(0.5)
                .setStandardization(false)
                .setWeightCol("weight"),
        lr -> lr.setLoss("huber").setEpsilon(1.5).setRegParam(0.02),
        lr -> lr.setLoss("huber").setFitIntercept(false));
  }

  @ParameterizedTest
  @MethodSource("params")
  void findsWhatSparkFinds(Consumer<org.apache.spark.ml.regression.LinearRegression> params) {
    LinearRegressionModel expected =
        fit(new org.apache.spark.ml.regression.LinearRegression(), params);
    LinearRegressionModel found;
    try (LogLines log = new LogLines()) {
      found = fit(new LinearRegression(), params);
      assertThat(log.lines()).isEmpty();
    }
    assertClose(numbers(found), numbers(expected));
    assertClose(found.summary().objectiveHistory(), expected.summary().objectiveHistory());
    assertThat(found.summary().r2()).isCloseTo(expected.summary().r2(), within9());
    assertSameParams(found, expected);
  }

  private static org.assertj.core.data.Offset<Double> within9() {
    return org.assertj.core.api.Assertions.within(1e-9);
  }

  private LinearRegressionModel fit(
      org.apache.spark.ml.regression.LinearRegression estimator,
      Consumer<org.apache.spark.ml.regression.LinearRegression> params) {
    estimator.setLabelCol("value").setMaxIter(8);
    params.accept(estimator);
    return estimator.fit(rows);
  }

  private static double[] numbers(LinearRegressionModel model) {
    double[] coefficients = model.coefficients().toArray();
    double[] all = java.util.Arrays.copyOf(coefficients, coefficients.length + 2);
    all[coefficients.length] = model.intercept();
    all[coefficients.length + 1] = model.scale();
    return all;
  }

  @Test
  void theNormalEquationsAreLeftToSpark() {
    try (LogLines log = new LogLines()) {
      new LinearRegression().setLabelCol("value").fit(rows);
      assertThat(log.lines()).singleElement().asString().contains("one pass over the rows");
    }
  }

  /** Each of these is honoured above, or belongs to Spark's model alone. */
  @Test
  void knowsEachParamOfSparksEstimator() {
    assertThat(names(new LinearRegression()))
        .containsExactlyInAnyOrder(
            "aggregationDepth",
            "elasticNetParam",
            "epsilon",
            "featuresCol",
            "fitIntercept",
            "labelCol",
            "loss",
            "maxBlockSizeInMB",
            "maxIter",
            "predictionCol",
            "regParam",
            "solver",
            "standardization",
            "tol",
            "weightCol");
  }
}
