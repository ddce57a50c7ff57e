package org.sparkcollectives.ml.internal.factorization;

import java.nio.file.Path;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.regression.FMRegressor;
import org.apache.spark.mllib.linalg.Vectors;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.ml.testing.GeneratedRows;
import org.sparkcollectives.ml.testing.LocalCluster;
import org.sparkcollectives.ml.testing.ResumedIterations;
import org.sparkcollectives.spark.IterativeStage;
import scala.Tuple2;

@ExtendWith(LocalCluster.class)
class ResumedDescentTest {

  private static final int ITERATIONS = 8;

  @ParameterizedTest
  @ValueSource(strings = {"gd", "adamW"})
  void aDescentGoesOnToTheSameBits(String solver, SparkSession spark, @TempDir Path directory) {
    JavaRDD<Tuple2<Object, org.apache.spark.mllib.linalg.Vector>> rows =
        GeneratedRows.of(spark, 60)
            .select("value", "features")
            .toJavaRDD()
            .map(row -> new Tuple2<>(row.get(0), Vectors.fromML(row.<Vector>getAs(1))));
    FMRegressor estimator =
        new FMRegressor().setSolver(solver).setMaxIter(ITERATIONS).setMiniBatchFraction(0.5);
    MiniBatchDescent descent =
        MiniBatchDescent.of(estimator, GeneratedRows.FEATURES, "squaredError");
    double[] first =
        descent.first(estimator.initCoefficients(GeneratedRows.FEATURES).toArray()).numbers();

    ResumedIterations.assertSameBits(
        IterativeStage.of(rows, first)
            .withLoader(own -> LabeledRow.listOf(own, first.length))
            .withLoss((state, sums, iteration) -> descent.loss(state, sums)),
        descent.iterations(),
        (state, own, iteration) -> descent.gradient(state, own, iteration),
        (state, sums, iteration) -> descent.step(state, sums, iteration),
        directory);
  }
}
