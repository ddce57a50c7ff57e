package org.sparkcollectives.ml.clustering;

import static org.apache.spark.sql.functions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.clustering.KMeansModel;
import org.apache.spark.ml.functions;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.ml.testing.LocalCluster;

/** Spark's own k-means and ours side by side. */
@ExtendWith(LocalCluster.class)
class KMeansTest {

  private final SparkSession spark;

  KMeansTest(SparkSession spark) {
    this.spark = spark;
  }

  @ParameterizedTest
  @CsvSource({
    "row, k-means||, euclidean",
    "row, random, cosine",
    "block, random, euclidean",
    "block, k-means||, cosine",
    "auto, k-means||, euclidean",
  })
  void theDigitsGetTheSameBitsAsFromSpark(String solver, String initMode, String measure) {
    Dataset<Row> digits = Points.digits(spark, 2).cache();

    KMeansModel own =
        sameAsSpark(
            digits,
            estimator ->
                estimator
                    .setK(10)
                    .setSeed(7)
                    .setSolver(solver)
                    .setInitMode(initMode)
                    .setDistanceMeasure(measure),
            0);

    assertThat(own.summary().numIter()).isGreaterThan(2);
    digits.unpersist();
  }

  @ParameterizedTest
  @CsvSource({"row, euclidean", "block, euclidean", "row, cosine", "block, cosine"})
  void rowsHaveWeights(String solver, String measure) {
    sameAsSpark(
        Points.around(spark, 3, 500, 5),
        estimator ->
            estimator
                .setK(3)
                .setSeed(3)
                .setSolver(solver)
                .setDistanceMeasure(measure)
                .setWeightCol("weight"),
        1e-12);
  }

  @ParameterizedTest
  @CsvSource({"auto, k-means||", "row, random", "block, random"})
  void rowsMayBeSparse(String solver, String initMode) {
    Vector[] rows = new Vector[300];
    for (int i = 0; i < rows.length; i++) {
      rows[i] =
          Vectors.sparse(50, new int[] {i % 7, 10 + i % 3, 49}, new double[] {i % 11, -1, 0.5});
    }

    sameAsSpark(
        Points.of(spark, 2, rows),
        estimator -> estimator.setK(6).setSeed(5).setSolver(solver).setInitMode(initMode),
        1e-12);
  }

  @Test
  void rowsMayBeArrays() {
    Dataset<Row> arrays =
        Points.around(spark, 4, 200, 3)
            .withColumn("features", functions.vector_to_array(col("features"), "float32"));

    sameAsSpark(arrays, estimator -> estimator.setK(4).setSeed(1), 1e-12);
  }

  @ParameterizedTest
  @CsvSource({"0, 1e-4", "1, 1e-4", "20, 0", "20, 1", "20, 100"})
  void theLastIterationIsSparks(int maxIter, double tol) {
    sameAsSpark(
        Points.around(spark, 5, 400, 4),
        estimator ->
            estimator.setK(5).setSeed(11).setInitMode("random").setMaxIter(maxIter).setTol(tol),
        1e-12);
  }

  @Test
  void moreClustersThanDistinctRowsGiveFewerCenters() {
    Dataset<Row> rows =
        Points.of(
            spark,
            2,
            Vectors.dense(1, 2),
            Vectors.dense(1, 2),
            Vectors.dense(3, 4),
            Vectors.dense(3, 4));

    KMeansModel own =
        sameAsSpark(rows, estimator -> estimator.setK(5).setSeed(1).setSolver("row"), 0);
    KMeansModel inBlocks = new KMeans().setK(5).setSeed(1).setSolver("block").fit(rows);

    assertThat(own.clusterCenters()).hasSize(2);
    assertThat(inBlocks.clusterCenters()).containsExactly(own.clusterCenters());
  }

  @Test
  void ranksMayHaveNoRows() {
    sameAsSpark(
        Points.of(spark, 2, Vectors.dense(1, 2), Vectors.dense(3, 5), Vectors.dense(7, 7))
            .repartition(2, col("weight"))
            .sortWithinPartitions(col("features").cast("string")),
        estimator -> estimator.setK(2).setSeed(1),
        0);
  }

  @Test
  void partitionsMayBeCoalesced() {
    sameAsSpark(
        Points.digits(spark, 4).coalesce(2),
        estimator -> estimator.setK(10).setSeed(2).setMaxIter(5).setTol(0),
        1e-9);
  }

  @Test
  void partitionsMayBeMoreThanTheSlots() {
    sameAsSpark(
        Points.digits(spark, 7),
        estimator -> estimator.setK(10).setSeed(2).setMaxIter(5).setTol(0),
        1e-9);
  }

  @ParameterizedTest
  @CsvSource({"row, k-means||", "block, random"})
  void noRowsAreAnError(String solver, String initMode) {
    sameFailureAsSpark(
        Points.of(spark, 2),
        estimator -> estimator.setSeed(1).setSolver(solver).setInitMode(initMode));
  }

  @ParameterizedTest
  @CsvSource({"row", "auto"})
  void featuresThatAreNotNumbersAreAnError(String solver) {
    sameFailureAsSpark(
        Points.of(spark, 2, Vectors.dense(1, Double.NaN), Vectors.dense(2, 3)),
        estimator -> estimator.setSeed(1).setSolver(solver),
        "MUST NOT be NaN or Infinity");
  }

  @ParameterizedTest
  @CsvSource({"row", "block"})
  void negativeWeightsAreAnError(String solver) {
    sameFailureAsSpark(
        Points.of(
            spark,
            2,
            List.of(
                RowFactory.create(Vectors.dense(1, 2), -1.0),
                RowFactory.create(Vectors.dense(1, 3), 1.0))),
        estimator -> estimator.setSeed(1).setSolver(solver).setWeightCol("weight"),
        "MUST NOT be Negative or Infinity");
  }

  @ParameterizedTest
  @CsvSource({"row", "block"})
  void zeroHasNoCosine(String solver) {
    Dataset<Row> rows =
        Points.of(spark, 2, Vectors.dense(0, 0), Vectors.dense(2, 3), Vectors.dense(2, 1));

    assertThat(
            failures(
                rows,
                estimator ->
                    estimator
                        .setSeed(1)
                        .setSolver(solver)
                        .setDistanceMeasure("cosine")
                        .setInitMode("random")))
        .allSatisfy(failure -> assertThat(failure).hasStackTraceContaining("zero-length vectors"));
  }

  @Tag("full")
  @Test
  void anExecutorThatIsLostChangesNoBit() throws Exception {
    Dataset<Row> rows = Points.around(spark, 30, 4_000, 20);
    org.apache.spark.ml.clustering.KMeans estimator =
        new KMeans().setK(30).setSeed(9).setInitMode("random").setTol(0);
    KMeansModel expected = estimator.fit(rows);

    KMeansModel found;
    try (ExecutorLoss loss = ExecutorLoss.inTheNextBarrierStage(spark)) {
      found = estimator.fit(rows);
      assertThat(loss.stages()).as("barrier stages").isEqualTo(2);
    }

    assertThat(found.clusterCenters()).containsExactly(expected.clusterCenters());
    assertThat(found.summary().numIter()).isEqualTo(expected.summary().numIter());
    assertThat(found.summary().trainingCost()).isEqualTo(expected.summary().trainingCost());
  }

  @Test
  void theDefaultSeedIsThatOfSpark() {
    assertThat(new KMeans().getSeed())
        .isEqualTo(new org.apache.spark.ml.clustering.KMeans().getSeed());
  }

  @Test
  void everyParamIsKnown() {
    assertThat(Arrays.stream(new org.apache.spark.ml.clustering.KMeans().params()).map(Param::name))
        .as("a new Param is to be honoured, or to be answered by Spark's own fit")
        .containsExactlyInAnyOrder(
            "distanceMeasure",
            "featuresCol",
            "initMode",
            "initSteps",
            "k",
            "maxBlockSizeInMB",
            "maxIter",
            "predictionCol",
            "seed",
            "solver",
            "tol",
            "weightCol");
  }

  @Test
  void columnsHaveTheirNames() {
    Dataset<Row> rows = Points.around(spark, 2, 50, 2).withColumnRenamed("features", "x");

    KMeansModel model =
        sameAsSpark(
            rows,
            estimator ->
                estimator
                    .setFeaturesCol("x")
                    .setPredictionCol("cluster")
                    .setInitSteps(3)
                    .setMaxBlockSizeInMB(0.001)
                    .setSeed(4),
            1e-12);

    assertThat(model.summary().predictions().columns()).contains("x", "cluster");
  }

  @Test
  void anEstimatorIsCopiedSavedAndLoaded(@TempDir Path directory) throws Exception {
    org.apache.spark.ml.clustering.KMeans estimator = new KMeans("own").setK(3).setSeed(5);
    String own = directory.resolve("own").toString();
    String sparks = directory.resolve("sparks").toString();
    estimator.save(own);
    new org.apache.spark.ml.clustering.KMeans("sparks").setK(4).save(sparks);

    assertThat(estimator.copy(new ParamMap().put(estimator.k(), 6)).getK()).isEqualTo(6);
    assertThat(KMeans.load(own).getK()).isEqualTo(3);
    assertThat(KMeans.load(own).uid()).isEqualTo("own");
    assertThat(KMeans.load(sparks).getK()).isEqualTo(4);
    assertThat(KMeans.load(sparks).getMaxIter()).isEqualTo(20);
  }

  @Test
  void aPipelineWithTheModelIsSavedAndLoadedBySpark(@TempDir Path directory) throws Exception {
    Dataset<Row> rows = Points.around(spark, 3, 60, 2);
    String path = directory.resolve("model").toString();

    new Pipeline()
        .setStages(new PipelineStage[] {new KMeans().setK(3).setSeed(1)})
        .fit(rows)
        .save(path);

    assertThat(PipelineModel.load(path).stages()[0]).isExactlyInstanceOf(KMeansModel.class);
  }

  /** Fits both; centers may differ by {@code relative}, if it is 0 they may not. */
  private KMeansModel sameAsSpark(
      Dataset<Row> rows, Consumer<org.apache.spark.ml.clustering.KMeans> params, double relative) {
    org.apache.spark.ml.clustering.KMeans sparks =
        new org.apache.spark.ml.clustering.KMeans("same");
    KMeans own = new KMeans("same");
    params.accept(sparks);
    params.accept(own);
    KMeansModel expected = sparks.fit(rows);
    KMeansModel found = own.fit(rows);

    assertThat(found.clusterCenters()).hasSameSizeAs(expected.clusterCenters());
    for (int i = 0; i < expected.clusterCenters().length; i++) {
      double[] center = expected.clusterCenters()[i].toArray();
      double scale = Arrays.stream(center).map(Math::abs).max().orElse(0);
      assertThat(found.clusterCenters()[i].toArray())
          .as("center %d", i)
          .containsExactly(center, within(relative * scale));
    }
    assertThat(found.summary().numIter()).isEqualTo(expected.summary().numIter());
    double cost = expected.summary().trainingCost();
    assertThat(found.summary().trainingCost()).isCloseTo(cost, within(1e-9 * Math.abs(cost)));
    assertThat(found.summary().clusterSizes()).isEqualTo(expected.summary().clusterSizes());
    assertThat(found.parent()).isSameAs(own);
    assertThat(found.extractParamMap()).hasToString(expected.extractParamMap().toString());
    return found;
  }

  private void sameFailureAsSpark(
      Dataset<Row> rows, Consumer<org.apache.spark.ml.clustering.KMeans> params, String... texts) {
    List<Throwable> failures = failures(rows, params);

    assertThat(failures.get(1)).hasSameClassAs(failures.get(0));
    for (String text : texts) {
      assertThat(failures.get(0)).hasStackTraceContaining(text);
      assertThat(failures.get(1)).hasStackTraceContaining(text);
    }
  }

  /** Returns how Spark's fit fails, and how ours. */
  private static List<Throwable> failures(
      Dataset<Row> rows, Consumer<org.apache.spark.ml.clustering.KMeans> params) {
    return Stream.of(new org.apache.spark.ml.clustering.KMeans("same"), new KMeans("same"))
        .map(
            estimator -> {
              params.accept(estimator);
              return catchThrowable(() -> estimator.fit(rows));
            })
        .toList();
  }
}
