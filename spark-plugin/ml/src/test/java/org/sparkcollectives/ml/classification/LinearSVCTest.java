package org.sparkcollectives.ml.classification;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.sparkcollectives.ml.testing.Closeness.assertClose;
import static org.sparkcollectives.ml.testing.Closeness.assertSameParams;
import static org.sparkcollectives.ml.testing.Closeness.names;

import java.util.List;
import org.apache.spark.ml.classification.LinearSVCModel;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.ml.testing.GeneratedRows;
import org.sparkcollectives.ml.testing.LocalCluster;

@ExtendWith(LocalCluster.class)
class LinearSVCTest {

  @Test
  void findsWhatSparkFinds(SparkSession spark) {
    Dataset<Row> rows = GeneratedRows.of(spark, 120).cache();
    for (boolean plain : List.of(true, false)) {
      LinearSVCModel expected =
          fit(new org.apache.spark.ml.classification.LinearSVC(), rows, plain);
      LinearSVCModel found = fit(new LinearSVC(), rows, plain);

      assertClose(found.coefficients().toArray(), expected.coefficients().toArray());
      assertThat(Math.abs(found.intercept() - expected.intercept())).isLessThan(1e-9);
      assertClose(found.summary().objectiveHistory(), expected.summary().objectiveHistory());
      // Spark adds it up in the order in which its tasks end.
      assertThat(found.summary().areaUnderROC())
          .isCloseTo(expected.summary().areaUnderROC(), within(1e-12));
      assertSameParams(found, expected);
    }
  }

  private static LinearSVCModel fit(
      org.apache.spark.ml.classification.LinearSVC estimator, Dataset<Row> rows, boolean plain) {
    estimator.setLabelCol("binary").setMaxIter(8).setRegParam(0.05).setThreshold(0.1);
    if (!plain) {
      estimator.setWeightCol("weight").setFitIntercept(false).setStandardization(false);
    }
    return estimator.fit(rows);
  }

  /** Each of these is honoured above, or belongs to Spark's model alone. */
  @Test
  void knowsEachParamOfSparksEstimator() {
    assertThat(names(new LinearSVC()))
        .containsExactlyInAnyOrder(
            "aggregationDepth",
            "featuresCol",
            "fitIntercept",
            "labelCol",
            "maxBlockSizeInMB",
            "maxIter",
            "predictionCol",
            "rawPredictionCol",
            "regParam",
            "standardization",
            "threshold",
            "tol",
            "weightCol");
  }
}
