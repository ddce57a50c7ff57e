package org.sparkcollectives.ml.clustering;

import static org.apache.spark.sql.functions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.clustering.GaussianMixtureModel;
import org.apache.spark.ml.functions;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.ml.testing.LocalCluster;

/** Spark's own mixture of Gaussians and ours side by side. */
@ExtendWith(LocalCluster.class)
class GaussianMixtureTest {

  /** Spark needs two stages for each. */
  private static final int MOST_ITERATIONS = 15;

  private final SparkSession spark;

  GaussianMixtureTest(SparkSession spark) {
    this.spark = spark;
  }

  @Test
  void aConvergedMixtureIsSparks() {
    GaussianMixtureModel own =
        sameAsSpark(
            Points.around(spark, 3, 600, 7),
            estimator -> estimator.setK(3).setSeed(4).setTol(1e-6).setMaxIter(60),
            1e-9);

    assertThat(own.summary().numIter()).isBetween(3, 59);
  }

  @Test
  void theDigitsWhoseCovariancesAreSingularGiveTheSameMixture() {
    sameAsSpark(
        Points.digits(spark, 2), estimator -> estimator.setK(2).setSeed(1).setMaxIter(3), 1e-8);
  }

  @Test
  void rowsHaveWeights() {
    sameAsSpark(
        Points.around(spark, 2, 300, 3),
        estimator -> estimator.setK(2).setSeed(2).setWeightCol("weight"),
        1e-9);
  }

  @Test
  void rowsMayBeSparse() {
    Random random = new Random(5);
    Vector[] rows = new Vector[400];
    for (int i = 0; i < rows.length; i++) {
      double[] row =
          random.doubles(8).map(chance -> chance < 0.3 ? random.nextGaussian() : 0).toArray();
      rows[i] = Vectors.dense(row).toSparse();
    }

    sameAsSpark(
        Points.of(spark, 2, rows), estimator -> estimator.setK(2).setSeed(5).setMaxIter(3), 1e-9);
  }

  @Test
  void rowsMayBeArrays() {
    Dataset<Row> arrays =
        Points.around(spark, 2, 200, 3)
            .withColumn("features", functions.vector_to_array(col("features"), "float32"));

    sameAsSpark(arrays, estimator -> estimator.setK(2).setSeed(1), 1e-9);
  }

  @ParameterizedTest
  @CsvSource({"0, 0.01", "1, 0.01", "6, 0", "20, 10", "20, 1e308"})
  void theLastIterationIsSparks(int maxIter, double tol) {
    sameAsSpark(
        Points.around(spark, 2, 200, 3),
        estimator -> estimator.setK(2).setSeed(8).setMaxIter(maxIter).setTol(tol),
        1e-9);
  }

  @Test
  void partitionsMayBeMoreThanTheSlots() {
    sameAsSpark(
        Points.around(spark, 2, 200, 3)
            .repartition(5, col("weight"))
            .sortWithinPartitions("weight"),
        estimator -> estimator.setK(2).setSeed(3).setTol(1e-6),
        1e-9);
  }

  @Test
  void rowsMayBeFewerThanTheGaussians() {
    sameAsSpark(
        Points.of(spark, 2, Vectors.dense(1, 2), Vectors.dense(3, 5)),
        estimator -> estimator.setK(4).setSeed(1).setMaxIter(2),
        1e-9);
  }

  @Test
  void noRowsAreAnError() {
    sameFailureAsSpark(Points.of(spark, 2), estimator -> estimator.setSeed(1));
  }

  @Test
  void featuresThatAreNotNumbersAreAnError() {
    sameFailureAsSpark(
        Points.of(spark, 2, Vectors.dense(1, 3), Vectors.dense(2, Double.NaN)),
        estimator -> estimator.setSeed(1),
        "MUST NOT be NaN or Infinity");
  }

  @Test
  void negativeWeightsAreAnError() {
    sameFailureAsSpark(
        Points.of(
            spark,
            2,
            List.of(
                RowFactory.create(Vectors.dense(1, 2), 1.0),
                RowFactory.create(Vectors.dense(1, 3), -1.0))),
        estimator -> estimator.setSeed(1).setWeightCol("weight"),
        "MUST NOT be Negative or Infinity");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 6, 20})
  void weightsOfZeroAreAnErrorWhereTheyAreInSpark(int positive) {
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      rows.add(RowFactory.create(Vectors.dense(i, i * i % 7), i < positive ? 1.0 : 0.0));
    }
    sameOutcomeAsSpark(
        Points.of(spark, 2, rows), estimator -> estimator.setSeed(1).setWeightCol("weight"));
  }

  @Test
  void tooManyFeaturesAreAnError() {
    sameFailureAsSpark(
        Points.of(spark, 1, Vectors.sparse(50_000, new int[] {1}, new double[] {1})),
        estimator -> estimator.setSeed(1),
        "GaussianMixture cannot handle more than 46340 features");
  }

  @Test
  void anExecutorThatIsLostChangesNoBit() throws Exception {
    Dataset<Row> rows = Points.around(spark, 4, 2_000, 8);
    org.apache.spark.ml.clustering.GaussianMixture estimator =
        new GaussianMixture().setK(6).setSeed(9).setTol(0).setMaxIter(25);
    GaussianMixtureModel expected = estimator.fit(rows);

    GaussianMixtureModel found;
    try (ExecutorLoss loss = ExecutorLoss.inTheNextBarrierStage(spark)) {
      found = estimator.fit(rows);
      assertThat(loss.stages()).as("barrier stages").isEqualTo(2);
    }

    assertThat(found.weights()).containsExactly(expected.weights());
    for (int i = 0; i < expected.gaussians().length; i++) {
      assertThat(found.gaussians()[i].mean()).isEqualTo(expected.gaussians()[i].mean());
      assertThat(found.gaussians()[i].cov()).isEqualTo(expected.gaussians()[i].cov());
    }
    assertThat(found.summary().logLikelihood()).isEqualTo(expected.summary().logLikelihood());
  }

  @Test
  void theDefaultSeedIsThatOfSpark() {
    assertThat(new GaussianMixture().getSeed())
        .isEqualTo(new org.apache.spark.ml.clustering.GaussianMixture().getSeed());
  }

  @Test
  void everyParamIsKnown() {
    assertThat(
            Arrays.stream(new org.apache.spark.ml.clustering.GaussianMixture().params())
                .map(Param::name))
        .as("a new Param is to be honoured, or to be answered by Spark's own fit")
        .containsExactlyInAnyOrder(
            "aggregationDepth",
            "featuresCol",
            "k",
            "maxIter",
            "predictionCol",
            "probabilityCol",
            "seed",
            "tol",
            "weightCol");
  }

  @Test
  void columnsHaveTheirNames() {
    GaussianMixtureModel model =
        sameAsSpark(
            Points.around(spark, 2, 80, 2).withColumnRenamed("features", "x"),
            estimator ->
                estimator
                    .setFeaturesCol("x")
                    .setPredictionCol("cluster")
                    .setProbabilityCol("responsibilities")
                    .setAggregationDepth(3)
                    .setSeed(4),
            1e-9);

    assertThat(model.summary().predictions().columns()).contains("cluster", "responsibilities");
  }

  @Test
  void anEstimatorIsCopiedSavedAndLoaded(@TempDir Path directory) throws Exception {
    org.apache.spark.ml.clustering.GaussianMixture estimator =
        new GaussianMixture("own").setK(3).setSeed(5);
    String own = directory.resolve("own").toString();
    String sparks = directory.resolve("sparks").toString();
    estimator.save(own);
    new org.apache.spark.ml.clustering.GaussianMixture("sparks").setK(4).save(sparks);

    assertThat(estimator.copy(new ParamMap().put(estimator.k(), 6)))
        .isExactlyInstanceOf(GaussianMixture.class)
        .matches(copy -> copy.getK() == 6);
    assertThat(GaussianMixture.load(own).getK()).isEqualTo(3);
    assertThat(GaussianMixture.load(sparks).getK()).isEqualTo(4);
  }

  @Test
  void aPipelineWithTheModelIsSavedAndLoadedBySpark(@TempDir Path directory) throws Exception {
    String path = directory.resolve("model").toString();

    new Pipeline()
        .setStages(new PipelineStage[] {new GaussianMixture().setK(2).setSeed(1)})
        .fit(Points.around(spark, 2, 60, 2))
        .save(path);

    assertThat(PipelineModel.load(path).stages()[0])
        .isExactlyInstanceOf(GaussianMixtureModel.class);
  }

  /** Fits both; numbers may differ by {@code relative} of the largest of their array. */
  private static GaussianMixtureModel sameAsSpark(
      Dataset<Row> rows,
      Consumer<org.apache.spark.ml.clustering.GaussianMixture> params,
      double relative) {
    org.apache.spark.ml.clustering.GaussianMixture sparks =
        new org.apache.spark.ml.clustering.GaussianMixture("same");
    GaussianMixture own = new GaussianMixture("same");
    params.accept(sparks.setMaxIter(MOST_ITERATIONS));
    params.accept(own.setMaxIter(MOST_ITERATIONS));
    GaussianMixtureModel expected = sparks.fit(rows);
    GaussianMixtureModel found = own.fit(rows);

    assertClose(found.weights(), expected.weights(), relative);
    for (int i = 0; i < expected.weights().length; i++) {
      assertClose(
          found.gaussians()[i].mean().toArray(),
          expected.gaussians()[i].mean().toArray(),
          relative);
      assertClose(
          found.gaussians()[i].cov().toArray(), expected.gaussians()[i].cov().toArray(), relative);
    }
    assertThat(found.summary().numIter()).isEqualTo(expected.summary().numIter());
    assertThat(found.summary().logLikelihood())
        .isCloseTo(
            expected.summary().logLikelihood(),
            within(1e-9 * Math.abs(expected.summary().logLikelihood())));
    assertThat(found.summary().clusterSizes()).isEqualTo(expected.summary().clusterSizes());
    assertThat(found.parent()).isSameAs(own);
    assertThat(found.extractParamMap()).hasToString(expected.extractParamMap().toString());
    return found;
  }

  private static void sameOutcomeAsSpark(
      Dataset<Row> rows, Consumer<org.apache.spark.ml.clustering.GaussianMixture> params) {
    org.apache.spark.ml.clustering.GaussianMixture sparks =
        new org.apache.spark.ml.clustering.GaussianMixture("same");
    params.accept(sparks);
    Throwable failure = catchThrowable(() -> sparks.fit(rows));
    if (failure == null) {
      sameAsSpark(rows, params, 1e-9);
    } else {
      sameFailureAsSpark(rows, params);
    }
  }

  private static void assertClose(double[] found, double[] expected, double relative) {
    double scale = Arrays.stream(expected).map(Math::abs).max().orElse(0);
    assertThat(found).containsExactly(expected, within(relative * scale));
  }

  private static void sameFailureAsSpark(
      Dataset<Row> rows,
      Consumer<org.apache.spark.ml.clustering.GaussianMixture> params,
      String... texts) {
    Throwable[] failures =
        Stream.of(
                new org.apache.spark.ml.clustering.GaussianMixture("same"),
                new GaussianMixture("same"))
            .map(
                estimator -> {
                  params.accept(estimator);
                  return catchThrowable(() -> estimator.fit(rows));
                })
            .toArray(Throwable[]::new);

    assertThat(failures[1]).hasSameClassAs(failures[0]);
    for (String text : texts) {
      assertThat(failures[0]).hasStackTraceContaining(text);
      assertThat(failures[1]).hasStackTraceContaining(text);
    }
  }
}
