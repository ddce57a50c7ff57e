package org.sparkcollectives.ml.classification;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.sparkcollectives.ml.testing.Closeness.assertClose;
import static org.sparkcollectives.ml.testing.Closeness.assertSameParams;
import static org.sparkcollectives.ml.testing.Closeness.names;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.spark.ml.classification.LogisticRegressionModel;
import org.apache.spark.ml.linalg.Matrices;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.ml.testing.GeneratedRows;
import org.sparkcollectives.ml.testing.LocalCluster;
import org.sparkcollectives.ml.testing.LogLines;
import org.sparkcollectives.ml.testing.SparksFailure;

@ExtendWith(LocalCluster.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LogisticRegressionTest {

  private static final int ITERATIONS = 12;

  private final Dataset<Row> rows;

  LogisticRegressionTest(SparkSession spark) {
    rows = GeneratedRows.of(spark, 120).cache();
  }

  private record Case(
      String name, Consumer<org.apache.spark.ml.classification.LogisticRegression> params) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Case of(
      String name, Consumer<org.apache.spark.ml.classification.LogisticRegression> params) {
    return new Case(name, params);
  }

  static Stream<Case> params() {
    return Stream.of(
        of("two classes", lr -> lr.setRegParam(0.01)),
        of(
            "weights, no intercept, unscaled penalty, small blocks",
            lr ->
                lr.setWeightCol("weight")
                    .setFitIntercept(false)
                    .setStandardization(false)
                    .setRegParam(0.1)
                    .setMaxBlockSizeInMB(0.001)),
        of(
            "elastic net",
            lr -> lr.setRegParam(0.05).setElasticNetParam(0.4).setStandardization(false)),
        of(
            "bounds",
            lr ->
                lr.setLowerBoundsOnCoefficients(Matrices.dense(1, 6, new double[6]))
                    .setUpperBoundsOnIntercepts(Vectors.dense(0.1))),
        of("three classes", lr -> lr.setLabelCol("ternary")),
        of(
            "three classes, elastic net, thresholds",
            lr ->
                lr.setLabelCol("ternary")
                    .setRegParam(0.02)
                    .setElasticNetParam(0.5)
                    .setThresholds(new double[] {0.2, 0.5, 0.3})),
        of("two classes with a set each", lr -> lr.setFamily("multinomial").setRegParam(0.1)));
  }

  @ParameterizedTest
  @MethodSource("params")
  void findsWhatSparkFinds(Case params) {
    LogisticRegressionModel expected =
        fit(new org.apache.spark.ml.classification.LogisticRegression(), params);
    LogisticRegressionModel found = fit(new LogisticRegression(), params);

    assertSame(found, expected);
    assertThat(found.summary().predictions().columns())
        .containsExactly(expected.summary().predictions().columns());
    assertThat(found.summary().accuracy()).isEqualTo(expected.summary().accuracy());
  }

  private LogisticRegressionModel fit(
      org.apache.spark.ml.classification.LogisticRegression estimator, Case params) {
    estimator.setLabelCol("binary").setMaxIter(ITERATIONS);
    params.params.accept(estimator);
    try (LogLines log = new LogLines()) {
      LogisticRegressionModel model = estimator.fit(rows);
      assertThat(log.lines()).isEmpty();
      return model;
    }
  }

  private static void assertSame(LogisticRegressionModel found, LogisticRegressionModel expected) {
    assertClose(found.coefficientMatrix().toArray(), expected.coefficientMatrix().toArray());
    assertClose(found.interceptVector().toArray(), expected.interceptVector().toArray());
    assertClose(found.summary().objectiveHistory(), expected.summary().objectiveHistory());
    assertThat(found.numClasses()).isEqualTo(expected.numClasses());
    assertSameParams(found, expected);
  }

  @Test
  void theSamePartitionsGiveTheSameBits() {
    Case params = of("", lr -> lr.setRegParam(0.01));
    LogisticRegressionModel once = fit(new LogisticRegression(), params);
    LogisticRegressionModel again = fit(new LogisticRegression(), params);

    assertThat(again.coefficients()).isEqualTo(once.coefficients());
    assertThat(again.intercept()).isEqualTo(once.intercept());
  }

  @Test
  void startsFromAGivenModel() {
    LogisticRegressionModel start =
        fit(new LogisticRegression(), of("", lr -> lr.setRegParam(0.01)));
    Consumer<org.apache.spark.ml.classification.LogisticRegression> from =
        lr -> lr.setRegParam(0.02).setMaxIter(2).setInitialModel(start);

    assertSame(
        fit(new LogisticRegression(), of("", from)),
        fit(new org.apache.spark.ml.classification.LogisticRegression(), of("", from)));
  }

  @Test
  void aSingleClassIsLeftToSpark() {
    Dataset<Row> one = rows.filter("binary = 1");
    try (LogLines log = new LogLines()) {
      LogisticRegressionModel model = new LogisticRegression().setLabelCol("binary").fit(one);

      assertThat(model.intercept()).isEqualTo(Double.POSITIVE_INFINITY);
      assertThat(log.lines()).singleElement().asString().contains("Spark's own fit is used");
    }
  }

  @Test
  void refusesWhatSparkRefuses() {
    for (Dataset<Row> bad :
        List.of(
            rows.withColumn("binary", functions.lit(0.5)),
            rows.withColumn("weight", functions.lit(-1.0)),
            rows.filter("weight < 0"))) {
      assertThatThrownBy(
              () -> new LogisticRegression().setLabelCol("binary").setWeightCol("weight").fit(bad))
          .hasStackTraceContaining(
              SparksFailure.messageOf(
                  () ->
                      new org.apache.spark.ml.classification.LogisticRegression()
                          .setLabelCol("binary")
                          .setWeightCol("weight")
                          .fit(bad)));
    }
  }

  @Test
  void savedEstimatorsAreReadAgain(@TempDir Path directory) throws Exception {
    String path = directory.resolve("estimator").toString();
    new LogisticRegression("own").setRegParam(0.25).save(path);

    LogisticRegression read = LogisticRegression.load(path);

    assertThat(read.uid()).isEqualTo("own");
    assertThat(read.getRegParam()).isEqualTo(0.25);

    String ofSpark = directory.resolve("spark").toString();
    new org.apache.spark.ml.classification.LogisticRegression().setMaxIter(7).save(ofSpark);
    assertThat(LogisticRegression.load(ofSpark).getMaxIter()).isEqualTo(7);
  }

  /** Each of these is honoured by a case above, or belongs to Spark's model alone. */
  @Test
  void knowsEachParamOfSparksEstimator() {
    assertThat(names(new LogisticRegression()))
        .containsExactlyInAnyOrder(
            "aggregationDepth",
            "elasticNetParam",
            "family",
            "featuresCol",
            "fitIntercept",
            "labelCol",
            "lowerBoundsOnCoefficients",
            "lowerBoundsOnIntercepts",
            "maxBlockSizeInMB",
            "maxIter",
            "predictionCol",
            "probabilityCol",
            "rawPredictionCol",
            "regParam",
            "standardization",
            "threshold",
            "thresholds",
            "tol",
            "upperBoundsOnCoefficients",
            "upperBoundsOnIntercepts",
            "weightCol");
  }
}
