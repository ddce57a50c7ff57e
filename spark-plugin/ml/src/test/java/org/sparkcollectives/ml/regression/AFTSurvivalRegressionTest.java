package org.sparkcollectives.ml.regression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.sparkcollectives.ml.testing.Closeness.assertClose;
import static org.sparkcollectives.ml.testing.Closeness.assertSameParams;
import static org.sparkcollectives.ml.testing.Closeness.names;

import java.util.List;
import org.apache.spark.ml.regression.AFTSurvivalRegressionModel;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.ml.testing.GeneratedRows;
import org.sparkcollectives.ml.testing.LocalCluster;

@ExtendWith(LocalCluster.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AFTSurvivalRegressionTest {

  private final Dataset<Row> rows;

  AFTSurvivalRegressionTest(SparkSession spark) {
    rows = GeneratedRows.of(spark, 120).cache();
  }

  @Test
  void findsWhatSparkFinds() {
    for (boolean intercept : List.of(true, false)) {
      AFTSurvivalRegressionModel expected =
          fit(new org.apache.spark.ml.regression.AFTSurvivalRegression(), intercept);
      AFTSurvivalRegressionModel found = fit(new AFTSurvivalRegression(), intercept);

      assertClose(numbers(found), numbers(expected));
      assertSameParams(found, expected);
    }
  }

  private AFTSurvivalRegressionModel fit(
      org.apache.spark.ml.regression.AFTSurvivalRegression estimator, boolean intercept) {
    return estimator
        .setLabelCol("time")
        .setCensorCol("censor")
        .setQuantileProbabilities(new double[] {0.3, 0.6})
        .setQuantilesCol("quantiles")
        .setFitIntercept(intercept)
        .setMaxIter(8)
        .fit(rows);
  }

  private static double[] numbers(AFTSurvivalRegressionModel model) {
    double[] coefficients = model.coefficients().toArray();
    double[] all = java.util.Arrays.copyOf(coefficients, coefficients.length + 2);
    all[coefficients.length] = model.intercept();
    all[coefficients.length + 1] = model.scale();
    return all;
  }

  @Test
  void refusesACensorThatIsNone() {
    assertThatThrownBy(
            () ->
                new AFTSurvivalRegression()
                    .setLabelCol("time")
                    .fit(rows.withColumn("censor", functions.lit(0.5))))
        .hasStackTraceContaining("Censors MUST be in {0, 1}, but got 0.5");
  }

  /** Each of these is honoured above, or belongs to Spark's model alone. */
  @Test
  void knowsEachParamOfSparksEstimator() {
    assertThat(names(new AFTSurvivalRegression()))
        .containsExactlyInAnyOrder(
            "aggregationDepth",
            "censorCol",
            "featuresCol",
            "fitIntercept",
            "labelCol",
            "maxBlockSizeInMB",
            "maxIter",
            "predictionCol",
            "quantileProbabilities",
            "quantilesCol",
            "tol");
  }
}
