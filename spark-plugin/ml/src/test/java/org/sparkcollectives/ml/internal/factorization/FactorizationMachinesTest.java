package org.sparkcollectives.ml.internal.factorization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkcollectives.ml.testing.Closeness.assertSameParams;
import static org.sparkcollectives.ml.testing.Closeness.names;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.apache.spark.ml.classification.FMClassificationModel;
import org.apache.spark.ml.linalg.Matrix;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.regression.FMRegressionModel;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.ml.classification.FMClassifier;
import org.sparkcollectives.ml.regression.FMRegressor;
import org.sparkcollectives.ml.testing.GeneratedRows;
import org.sparkcollectives.ml.testing.LocalCluster;
import org.sparkcollectives.ml.testing.LogLines;

@ExtendWith(LocalCluster.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FactorizationMachinesTest {

  private final Dataset<Row> rows;

  FactorizationMachinesTest(SparkSession spark) {
    rows = GeneratedRows.of(spark, 120).cache();
  }

  static Stream<Consumer<org.apache.spark.ml.regression.FMRegressor>> regressions() {
    return Stream.of(
        fm -> fm.setStepSize(0.05).setRegParam(0.01),
        fm -> fm.setSolver("gd").setStepSize(0.001).setFitLinear(false).setInitStd(0.1),
        fm -> fm.setMiniBatchFraction(0.3).setStepSize(0.1).setFactorSize(3).setSeed(7),
        fm -> fm.setMiniBatchFraction(0.6).setFitIntercept(false),
        fm -> fm.setTol(0.5).setStepSize(0.01));
  }

  @ParameterizedTest
  @MethodSource("regressions")
  void aRegressionHasTheBitsOfSparks(Consumer<org.apache.spark.ml.regression.FMRegressor> params) {
    FMRegressionModel expected =
        regression(new org.apache.spark.ml.regression.FMRegressor(), params);
    try (LogLines log = new LogLines()) {
      FMRegressionModel found = regression(new FMRegressor(), params);
      assertThat(log.lines()).isEmpty();
      assertThat(found.getClass()).isEqualTo(expected.getClass());
      assertThat(numbers(found.intercept(), found.linear(), found.factors()))
          .containsExactly(numbers(expected.intercept(), expected.linear(), expected.factors()));
      assertSameParams(found, expected);
    }
  }

  private FMRegressionModel regression(
      org.apache.spark.ml.regression.FMRegressor estimator,
      Consumer<org.apache.spark.ml.regression.FMRegressor> params) {
    estimator.setMaxIter(15).setLabelCol("value");
    params.accept(estimator);
    return estimator.fit(rows);
  }

  @ParameterizedTest
  @ValueSource(strings = {"gd", "adamW"})
  void aClassifierHasTheBitsAndTheLossesOfSparks(String solver) {
    FMClassificationModel expected =
        classifier(new org.apache.spark.ml.classification.FMClassifier(), solver);
    FMClassificationModel found = classifier(new FMClassifier(), solver);
    assertThat(numbers(found.intercept(), found.linear(), found.factors()))
        .containsExactly(numbers(expected.intercept(), expected.linear(), expected.factors()));
    assertThat(found.summary().objectiveHistory())
        .hasSizeGreaterThan(2)
        .containsExactly(expected.summary().objectiveHistory());
    assertThat(found.summary().accuracy()).isEqualTo(expected.summary().accuracy());
  }

  private FMClassificationModel classifier(
      org.apache.spark.ml.classification.FMClassifier estimator, String solver) {
    return estimator
        .setSolver(solver)
        .setStepSize(0.05)
        .setMiniBatchFraction(0.5)
        .setMaxIter(10)
        .setLabelCol("binary")
        .fit(rows);
  }

  private static double[] numbers(double intercept, Vector linear, Matrix factors) {
    return DoubleStream.concat(
            DoubleStream.of(intercept),
            DoubleStream.concat(Arrays.stream(linear.toArray()), Arrays.stream(factors.toArray())))
        .toArray();
  }

  /** So small a fraction draws no row in most iterations, which Spark skips. */
  @Test
  void iterationsThatDrawNoRowChangeNothing() {
    Consumer<org.apache.spark.ml.regression.FMRegressor> params =
        fm -> fm.setMiniBatchFraction(0.004).setStepSize(0.1);
    FMRegressionModel expected =
        regression(new org.apache.spark.ml.regression.FMRegressor(), params);
    FMRegressionModel found = regression(new FMRegressor(), params);
    assertThat(numbers(found.intercept(), found.linear(), found.factors()))
        .containsExactly(numbers(expected.intercept(), expected.linear(), expected.factors()));
  }

  @Test
  void rowsThatNobodyCachesAreNotLeftInSparksCache() {
    Dataset<Row> uncached = rows.sparkSession().createDataFrame(rows.toJavaRDD(), rows.schema());
    int before = rows.sparkSession().sparkContext().getPersistentRDDs().size();
    FMRegressionModel found = new FMRegressor().setMaxIter(3).setLabelCol("value").fit(uncached);
    assertThat(found.factors().numCols()).isEqualTo(found.getFactorSize());
    assertThat(rows.sparkSession().sparkContext().getPersistentRDDs().size()).isEqualTo(before);
  }

  @Test
  void savedEstimatorsAreReadAgain(@TempDir Path directory) throws Exception {
    String path = directory.resolve("estimator").toString();
    new FMRegressor().setFactorSize(3).save(path);
    assertThat(FMRegressor.load(path).getFactorSize()).isEqualTo(3);
    String sparks = directory.resolve("sparks").toString();
    new org.apache.spark.ml.classification.FMClassifier().setFactorSize(5).save(sparks);
    assertThat(FMClassifier.load(sparks).getFactorSize()).isEqualTo(5);
  }

  /** Each of these is honoured above, or belongs to Spark's model alone. */
  @Test
  void knowsEachParamOfSparksEstimators() {
    assertThat(names(new FMRegressor()))
        .containsExactlyInAnyOrder(
            "factorSize",
            "featuresCol",
            "fitIntercept",
            "fitLinear",
            "initStd",
            "labelCol",
            "maxIter",
            "miniBatchFraction",
            "predictionCol",
            "regParam",
            "seed",
            "solver",
            "stepSize",
            "tol",
            "weightCol");
    assertThat(names(new FMClassifier()))
        .contains("thresholds", "rawPredictionCol", "probabilityCol")
        .hasSize(names(new FMRegressor()).size() + 3);
  }
}
