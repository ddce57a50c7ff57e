package org.sparkcollectives.ml.internal.gradient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.sparkcollectives.ml.testing.Closeness.assertClose;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.spark.ml.Predictor;
import org.apache.spark.ml.classification.LinearSVCModel;
import org.apache.spark.ml.classification.LogisticRegressionModel;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.regression.AFTSurvivalRegressionModel;
import org.apache.spark.ml.regression.LinearRegressionModel;
import org.apache.spark.sql.Column;
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
import org.sparkcollectives.ml.testing.GeneratedRows;
import org.sparkcollectives.ml.testing.LocalCluster;
import org.sparkcollectives.ml.testing.LogLines;

/** Tests each fit by gradients on rows that are not as expected, beside Spark's own. */
@ExtendWith(LocalCluster.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UnusualRowsTest {

  private static final Pattern JOB_ABORTED =
      Pattern.compile("^Job aborted[\\s\\S]*?RuntimeException: (.* MUST NOT be .*)");

  private static final int LARGEST_BROKEN = 3;
  private static final int WIDE = 2_000_000;

  private final Dataset<Row> rows;

  UnusualRowsTest(SparkSession spark) {
    rows = GeneratedRows.of(spark, 60).cache();
  }

  /** One of Spark's estimators and its counterpart. */
  private record Pair(Predictor<?, ?, ?> sparks, Predictor<?, ?, ?> own) {
    @Override
    public String toString() {
      return own.getClass().getSimpleName();
    }

    Stream<Predictor<?, ?, ?>> both() {
      return Stream.of(sparks, own);
    }
  }

  static Stream<Pair> estimators() {
    Pair logistic =
        new Pair(
            new org.apache.spark.ml.classification.LogisticRegression().setMaxIter(5),
            new org.sparkcollectives.ml.classification.LogisticRegression().setMaxIter(5));
    Pair svc =
        new Pair(
            new org.apache.spark.ml.classification.LinearSVC().setMaxIter(5),
            new org.sparkcollectives.ml.classification.LinearSVC().setMaxIter(5));
    Pair linear =
        new Pair(
            new org.apache.spark.ml.regression.LinearRegression().setSolver("l-bfgs").setMaxIter(5),
            new org.sparkcollectives.ml.regression.LinearRegression()
                .setSolver("l-bfgs")
                .setMaxIter(5));
    Pair survival =
        new Pair(
            new org.apache.spark.ml.regression.AFTSurvivalRegression().setMaxIter(5),
            new org.sparkcollectives.ml.regression.AFTSurvivalRegression().setMaxIter(5));
    List.of(logistic, svc).forEach(pair -> pair.both().forEach(each -> each.setLabelCol("binary")));
    linear.both().forEach(each -> each.setLabelCol("value"));
    survival.both().forEach(each -> each.setLabelCol("time"));
    return Stream.of(logistic, svc, linear, survival);
  }

  @ParameterizedTest
  @MethodSource("estimators")
  void featuresThatAreNoNumbersFailWithSparksException(Pair estimators) {
    for (Dataset<Row> bad :
        List.of(
            rows.withColumn("features", broken(Vectors.dense(1, 2, Double.NaN, 4, 5, 6))),
            rows.withColumn(
                "features",
                broken(Vectors.sparse(6, new int[] {4}, new double[] {Double.NEGATIVE_INFINITY}))),
            rows.withColumn("features", broken(null)))) {
      Throwable expected = catchThrowable(() -> estimators.sparks().fit(bad));
      assertThat(expected).hasMessageContaining("MUST NOT be");
      assertThatThrownBy(() -> estimators.own().fit(bad))
          .hasSameClassAs(expected)
          .extracting(UnusualRowsTest::reason)
          .isEqualTo(reason(expected));
    }
  }

  /**
   * Returns the message, or of Spark 3.5, whose message also has numbers of tasks, the sentence.
   */
  private static String reason(Throwable failure) {
    String message = failure.getMessage();
    Matcher sentence = JOB_ABORTED.matcher(message);
    return sentence.find() ? sentence.group(1) : message;
  }

  /** Returns the features, of which those of a few rows are {@code vector}. */
  private static Column broken(Vector vector) {
    return functions
        .when(
            functions.col("weight").geq(LARGEST_BROKEN),
            functions
                .udf((UDF1<Object, Vector>) any -> vector, SQLDataTypes.VectorType())
                .apply(functions.col("features")))
        .otherwise(functions.col("features"));
  }

  @ParameterizedTest
  @MethodSource("estimators")
  void ranksWithoutRowsTakePart(Pair estimators) {
    Dataset<Row> inOnePartition = rows.repartition(LocalCluster.SLOTS, functions.lit(1)).cache();
    assertThat(inOnePartition.select(functions.spark_partition_id()).distinct().count())
        .isEqualTo(1);
    try (LogLines log = new LogLines()) {
      double[] found = coefficients(estimators.own().fit(inOnePartition));
      assertThat(log.lines()).isEmpty();
      assertClose(found, coefficients(estimators.sparks().fit(inOnePartition)));
    } finally {
      inOnePartition.unpersist();
    }
  }

  /**
   * Rank 0 of 1 GiB may hold 434 MiB: no 40 vectors of 2 million coefficients, but Spark's driver
   * may.
   */
  @Test
  void anOptimizerThatDoesNotFitIsLeftToSpark() {
    Dataset<Row> wide =
        rows.limit(4)
            .repartition(1)
            .withColumn(
                "features",
                functions
                    .udf(
                        (UDF1<Object, Vector>)
                            any -> Vectors.sparse(WIDE, new int[] {3}, new double[] {1}),
                        SQLDataTypes.VectorType())
                    .apply(functions.col("features")));
    try (LogLines log = new LogLines()) {
      new org.sparkcollectives.ml.classification.LogisticRegression()
          .setLabelCol("binary")
          .setMaxIter(1)
          .fit(wide);
      assertThat(log.lines())
          .singleElement()
          .asString()
          .contains("Spark's own fit is used: the rows and the optimizer of rank 0 of 1 take more");
    }
  }

  private static double[] coefficients(Object model) {
    Vector found;
    if (model instanceof LogisticRegressionModel logistic) {
      found = logistic.coefficients();
    } else if (model instanceof LinearSVCModel svc) {
      found = svc.coefficients();
    } else if (model instanceof LinearRegressionModel linear) {
      found = linear.coefficients();
    } else {
      found = ((AFTSurvivalRegressionModel) model).coefficients();
    }
    return found.toArray();
  }
}
