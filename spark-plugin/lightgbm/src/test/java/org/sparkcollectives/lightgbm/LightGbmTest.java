package org.sparkcollectives.lightgbm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.spark.BarrierStage;

/** Training and prediction on executors in JVMs of their own. */
class LightGbmTest {

  private static final Map<String, String> PARAMETERS =
      Map.of(
          "objective", "multiclass",
          "num_class", "10",
          "min_data_in_leaf", "5",
          "deterministic", "true",
          "force_col_wise", "true",
          "verbosity", "-1");

  private static SparkSession spark;
  private static Dataset<Row> digits;

  @BeforeAll
  static void startCluster() throws IOException {
    spark =
        SparkSession.builder()
            .master("local-cluster[2,1,1024]")
            .appName("LightGBM")
            .config("spark.ui.enabled", "false")
            .config("spark.plugins", "org.sparkcollectives.spark.CollectivesPlugin")
            .config("spark.collectives.preflight.timeout", "3min")
            .config(
                "spark.executor.extraJavaOptions", System.getProperty("collectives.jvm.options"))
            .config("spark.executor.extraClassPath", classPath())
            .getOrCreate();
    List<Row> rows = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of(System.getProperty("collectives.digits")))) {
      double[] row = Arrays.stream(line.split(",")).mapToDouble(Double::parseDouble).toArray();
      rows.add(
          RowFactory.create(
              Vectors.dense(Arrays.copyOf(row, 64)), row[64], 1.0, rows.size() % 5 == 0));
    }
    StructType schema =
        new StructType()
            .add("features", SQLDataTypes.VectorType())
            .add("label", DataTypes.DoubleType)
            .add("weight", DataTypes.DoubleType)
            .add("unseen", DataTypes.BooleanType);
    digits =
        spark
            .createDataFrame(
                JavaSparkContext.fromSparkContext(spark.sparkContext()).parallelize(rows, 2),
                schema)
            .cache();
  }

  private static String classPath() {
    String classes =
        Stream.of("com.sun.jna.Native", "com.microsoft.ml.lightgbm.lightgbmlib")
            .map(LightGbmTest::jarOf)
            .collect(Collectors.joining(":"));
    return String.join(
        ":",
        Path.of("target", "test-classes").toAbsolutePath().toString(),
        System.getProperty("collectives.plugin.jar"),
        System.getProperty("collectives.lightgbm.jar"),
        classes);
  }

  private static String jarOf(String type) {
    try {
      Class<?> found = Class.forName(type, false, LightGbmTest.class.getClassLoader());
      return found.getProtectionDomain().getCodeSource().getLocation().getPath();
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  @AfterAll
  static void stopCluster() {
    if (spark != null) {
      spark.stop();
    }
  }

  private static double accuracy(LightGbmModel model, Dataset<Row> rows) {
    long right =
        model
            .transform(rows, "features", "classes")
            .filter(
                functions
                    .expr("cast(array_position(classes, array_max(classes)) - 1 as double)")
                    .equalTo(functions.col("label")))
            .count();
    return (double) right / rows.count();
  }

  @Test
  void aModelOfADatasetKnowsUnseenDigits() {
    LightGbmModel model =
        LightGbm.withParameters(PARAMETERS)
            .withRounds(12)
            .withEarlyStopping(3)
            .withColumns(LightGbmColumns.defaults().withWeight("weight").withValidation("unseen"))
            .fit(digits);

    assertThat(accuracy(model, digits.filter("unseen"))).isGreaterThan(0.9);
  }

  @Test
  void aTrainingWhoseExecutorIsKilledGivesTheModelOfOneThatWasLeftAlone() {
    LightGbm training = LightGbm.withParameters(PARAMETERS).withRounds(8);
    String undisturbed = training.fit(digits).text();
    SparkListener killer = new KillerOfAnExecutor();
    spark.sparkContext().addSparkListener(killer);
    String resubmitted = training.fit(digits).text();
    spark.sparkContext().removeSparkListener(killer);

    assertThat(resubmitted).isEqualTo(undisturbed);
  }

  /** Kills an executor once, when ranks have started on all. */
  private static final class KillerOfAnExecutor extends SparkListener {

    private int started;

    @Override
    public void onTaskStart(SparkListenerTaskStart start) {
      if (++started == 2) {
        ProcessHandle.current()
            .descendants()
            .filter(process -> process.info().commandLine().orElse("").contains("ExecutorBackend"))
            .findFirst()
            .orElseThrow()
            .destroyForcibly();
      }
    }
  }

  @Test
  void aNegativeWeightFailsTheTrainingWithTheRow() {
    Dataset<Row> negative = digits.withColumn("weight", functions.lit(-1.0));
    LightGbm training =
        LightGbm.withParameters(PARAMETERS)
            .withColumns(LightGbmColumns.defaults().withWeight("weight"));

    assertThatThrownBy(() -> training.fit(negative))
        .hasStackTraceContaining("Row 0 has the weight -1.0");
  }

  @Test
  void ranksOfOnesOwnBarrierStageTrainToo() {
    LightGbm training =
        LightGbm.withParameters(Map.of("objective", "regression", "verbosity", "-1"));
    List<String> models =
        BarrierStage.of(digits.select("features", "label").toJavaRDD())
            .collect(
                (world, rows) -> {
                  TrainingRows own = new TrainingRows(64);
                  rows.forEachRemaining(
                      row -> own.add(((Vector) row.get(0)).toArray(), row.getDouble(1)));
                  String model = training.withRounds(3).train(world, own, new TrainingRows(64));
                  return List.of(model).iterator();
                });

    assertThat(models).hasSize(2);
    assertThat(models.get(0)).isEqualTo(models.get(1));
  }
}
