package org.sparkcollectives.ml;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.ml.Estimator;
import org.apache.spark.ml.classification.LogisticRegressionModel;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.ml.testing.GeneratedRows;
import org.sparkcollectives.ml.testing.LocalCluster;
import org.sparkcollectives.ml.testing.Warnings;

/** Compares what each estimator says in the log with what Spark's own says of the same rows. */
@ExtendWith(LocalCluster.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WarningsTest {

  private final Dataset<Row> rows;
  private final Dataset<Row> oneClass;

  WarningsTest(SparkSession spark) {
    rows = GeneratedRows.of(spark, 60).withColumn("label", col("binary")).cache();
    oneClass = rows.withColumn("label", lit(1.0)).cache();
  }

  /**
   * One of Spark's estimators and its counterpart.
   *
   * @param least how many warnings Spark's fit has at the least in all
   */
  private record Pair(Estimator<?> sparks, Estimator<?> own, int least) {
    @Override
    public String toString() {
      return own.getClass().getSimpleName();
    }
  }

  static Stream<Pair> estimators() {
    LogisticRegressionModel other =
        new LogisticRegressionModel("other", Vectors.dense(1, 2, 3), 0.5);
    return Stream.of(
        new Pair(
            new org.apache.spark.ml.classification.LogisticRegression().setMaxIter(3),
            new org.sparkcollectives.ml.classification.LogisticRegression().setMaxIter(3),
            1),
        new Pair(
            new org.apache.spark.ml.classification.LogisticRegression()
                .setMaxIter(3)
                .setFitIntercept(false),
            new org.sparkcollectives.ml.classification.LogisticRegression()
                .setMaxIter(3)
                .setFitIntercept(false),
            3),
        new Pair(
            new org.apache.spark.ml.classification.LogisticRegression()
                .setMaxIter(3)
                .setInitialModel(other),
            new org.sparkcollectives.ml.classification.LogisticRegression()
                .setMaxIter(3)
                .setInitialModel(other),
            2),
        new Pair(
            new org.apache.spark.ml.classification.LinearSVC().setMaxIter(3).setFitIntercept(false),
            new org.sparkcollectives.ml.classification.LinearSVC()
                .setMaxIter(3)
                .setFitIntercept(false),
            0),
        new Pair(
            new org.apache.spark.ml.regression.LinearRegression()
                .setMaxIter(3)
                .setSolver("l-bfgs")
                .setFitIntercept(false),
            new org.sparkcollectives.ml.regression.LinearRegression()
                .setMaxIter(3)
                .setSolver("l-bfgs")
                .setFitIntercept(false),
            2),
        new Pair(
            new org.apache.spark.ml.regression.AFTSurvivalRegression()
                .setMaxIter(3)
                .setLabelCol("time")
                .setFitIntercept(false),
            new org.sparkcollectives.ml.regression.AFTSurvivalRegression()
                .setMaxIter(3)
                .setLabelCol("time")
                .setFitIntercept(false),
            2),
        new Pair(
            new org.apache.spark.ml.regression.FMRegressor()
                .setMaxIter(3)
                .setMiniBatchFraction(0.01),
            new org.sparkcollectives.ml.regression.FMRegressor()
                .setMaxIter(3)
                .setMiniBatchFraction(0.01),
            4),
        new Pair(
            new org.apache.spark.ml.classification.FMClassifier()
                .setMaxIter(2)
                .setMiniBatchFraction(0.3),
            new org.sparkcollectives.ml.classification.FMClassifier()
                .setMaxIter(2)
                .setMiniBatchFraction(0.3),
            2),
        new Pair(
            new org.apache.spark.ml.clustering.KMeans().setMaxIter(2).setSolver("block"),
            new org.sparkcollectives.ml.clustering.KMeans().setMaxIter(2).setSolver("block"),
            0),
        new Pair(
            new org.apache.spark.ml.clustering.GaussianMixture().setMaxIter(2),
            new org.sparkcollectives.ml.clustering.GaussianMixture().setMaxIter(2),
            0));
  }

  @ParameterizedTest
  @MethodSource("estimators")
  void areThoseOfSpark(Pair estimators) {
    int warnings = 0;
    for (Dataset<Row> each : List.of(rows, oneClass)) {
      List<String> expected = warnings(estimators.sparks(), each);
      assertThat(warnings(estimators.own(), each)).containsExactlyElementsOf(expected);
      warnings += expected.size();
    }
    assertThat(warnings).isGreaterThanOrEqualTo(estimators.least());
  }

  private static List<String> warnings(Estimator<?> estimator, Dataset<Row> rows) {
    try (Warnings warnings = new Warnings()) {
      estimator.fit(rows);
      return warnings.texts();
    }
  }
}
