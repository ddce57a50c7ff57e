package org.sparkcollectives.ml.clustering;

import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.mllib.linalg.Vector;
import org.apache.spark.mllib.linalg.Vectors;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.ml.internal.kmeans.BlockLloyd;
import org.sparkcollectives.ml.internal.kmeans.Lloyd;
import org.sparkcollectives.ml.internal.kmeans.RowLloyd;
import org.sparkcollectives.ml.internal.mixture.ExpectationMaximization;
import org.sparkcollectives.ml.internal.mixture.InitialMixture;
import org.sparkcollectives.ml.internal.rows.WeightedVectors;
import org.sparkcollectives.ml.testing.LocalCluster;
import org.sparkcollectives.ml.testing.ResumedIterations;
import org.sparkcollectives.spark.IterativeStage;
import scala.Option;

/** Ends the iterations of each solver, which must go on to the same bits. */
@ExtendWith(LocalCluster.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ResumedClusteringTest {

  private static final int ITERATIONS = 7;
  private static final int CLUSTERS = 4;
  private static final int FEATURES = 3;

  private final JavaRDD<Instance> rows;

  ResumedClusteringTest(SparkSession spark) {
    rows =
        WeightedVectors.of(
            Points.around(spark, CLUSTERS, 300, FEATURES), Option.apply("weight"), "features");
  }

  static Stream<Lloyd<?>> solvers() {
    Vector[] first = new Vector[CLUSTERS];
    for (int i = 0; i < CLUSTERS; i++) {
      first[i] = Vectors.dense(i, 1, 0.1 * i);
    }
    return Stream.of("euclidean", "cosine")
        .flatMap(
            measure ->
                Stream.of(new RowLloyd(first, measure, 0), new BlockLloyd(first, measure, 0)));
  }

  @ParameterizedTest
  @MethodSource("solvers")
  <D> void lloydsIterationsGoOnToTheSameBits(Lloyd<D> lloyd, @TempDir Path directory) {
    ResumedIterations.assertSameBits(
        IterativeStage.of(rows, lloyd.first().numbers())
            .withLoader(lloyd::load)
            .withStopCondition((before, after, iteration) -> lloyd.state(after).hasConverged()),
        ITERATIONS,
        (state, own, iteration) -> lloyd.sums(state, own),
        (state, sums, iteration) -> lloyd.move(state, sums),
        directory);
  }

  @Test
  void expectationMaximizationGoesOnToTheSameBits(@TempDir Path directory) {
    ExpectationMaximization steps = new ExpectationMaximization(CLUSTERS, FEATURES, 0);
    ResumedIterations.assertSameBits(
        IterativeStage.of(rows, InitialMixture.of(rows, CLUSTERS, FEATURES, 3).numbers())
            .withLoader(steps::load)
            .withStopCondition((before, after, iteration) -> steps.isLast(after)),
        ITERATIONS,
        (state, own, iteration) -> steps.expectation(state, own),
        (state, sums, iteration) -> steps.maximization(state, sums),
        directory);
  }
}
