package org.sparkcollectives.lightgbm;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.when;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Training on rows as SQL leaves them: in any partitions, with nulls, with any labels. */
class LightGbmRowsTest {

  private static final int ROWS = 240;

  private static final LightGbm CLASSIFIER =
      LightGbm.withParameters(
              Map.of(
                  "objective", "binary",
                  "min_data_in_leaf", "2",
                  "num_leaves", "4",
                  "deterministic", "true",
                  "verbosity", "-1"))
          .withRounds(5);

  private static SparkSession spark;

  /** Rows with the columns features, label (is the first feature positive?) and number. */
  private static Dataset<Row> rows;

  @BeforeAll
  static void startSpark() {
    spark =
        SparkSession.builder()
            .master("local[4]")
            .appName("rows of LightGBM")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.plugins", "org.sparkcollectives.spark.CollectivesPlugin")
            .getOrCreate();
    rows = rows(ROWS).repartition(3);
  }

  @AfterAll
  static void stopSpark() {
    if (spark != null) {
      spark.stop();
    }
  }

  private static Dataset<Row> rows(int count) {
    Random random = new Random(1);
    StructType schema =
        new StructType()
            .add("features", SQLDataTypes.VectorType())
            .add("label", DataTypes.DoubleType)
            .add("number", DataTypes.IntegerType);
    return spark.createDataFrame(
        IntStream.range(0, count)
            .mapToObj(
                i -> {
                  double x = (i % 2 == 0 ? 1 : -1) * (0.1 + random.nextDouble());
                  return RowFactory.create(
                      Vectors.dense(x, random.nextDouble()), x > 0 ? 1.0 : 0.0, i);
                })
            .toList(),
        schema);
  }

  static Stream<Arguments> layouts() {
    return Stream.of(
        Arguments.of("coalesce", layout(all -> all.coalesce(2))),
        Arguments.of("union", layout(all -> all.union(all))),
        Arguments.of("limit", layout(all -> all.limit(200))),
        Arguments.of("one partition", layout(all -> all.coalesce(1))),
        Arguments.of("more partitions than slots", layout(all -> all.repartition(9))),
        Arguments.of("sorted by label", layout(all -> all.repartitionByRange(4, col("label")))),
        Arguments.of("empty partitions", layout(all -> all.repartition(4, lit(1)))),
        Arguments.of("a filter leaves one partition", layout(LightGbmRowsTest::firstQuarter)),
        Arguments.of("a join", layout(all -> all.join(all.select("number"), "number"))));
  }

  private static Layout layout(Layout layout) {
    return layout;
  }

  /** How the rows come to the fit. */
  private interface Layout {
    Dataset<Row> of(Dataset<Row> all);
  }

  private static Dataset<Row> firstQuarter(Dataset<Row> all) {
    return all.repartitionByRange(4, col("number")).filter("number < " + ROWS / 4);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("layouts")
  void rowsInAnyPartitionsGiveAModel(String name, Layout layout) {
    assertKnowsTheRows(CLASSIFIER.fit(layout.of(rows)));
  }

  private static void assertKnowsTheRows(LightGbmModel model) {
    assertThat(
            model
                .transform(rows, "features", "predicted")
                .filter(col("predicted").getItem(0).gt(0.5).equalTo(col("label").equalTo(1.0)))
                .count())
        .isEqualTo(ROWS);
  }

  @Test
  void validationRowsThatFillAPartitionLeaveItsRankRowsToTrainOn() {
    Dataset<Row> held =
        rows.withColumn("held", col("number").geq(ROWS / 2)).repartitionByRange(4, col("number"));

    assertKnowsTheRows(validated(CLASSIFIER.withEarlyStopping(3)).fit(held));
  }

  private static LightGbm validated(LightGbm training) {
    return training.withColumns(LightGbmColumns.defaults().withValidation("held"));
  }

  @Test
  void fewerRowsThanPartitionsAreTrainedOnByFewerRanks() {
    Dataset<Row> few = rows(3).repartition(4);
    LightGbm regression =
        LightGbm.withParameters(
                Map.of("objective", "regression", "min_data_in_leaf", "1", "verbosity", "-1"))
            .withRounds(1);

    assertThat(regression.fit(few).text()).contains("tree");
  }

  @Test
  void fewRowsOfAClassAreOnDifferentRanks() {
    Dataset<Row> rare = rows.filter("label = 1 or number < 4").repartition(4);

    assertThat(CLASSIFIER.fit(rare).text()).contains("tree");
  }

  @Test
  void aDatasetWithoutRowsIsRefusedWithItsCounts() {
    assertThatThrownBy(() -> CLASSIFIER.fit(rows.filter("false")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no rows to train on");
    assertThatThrownBy(() -> CLASSIFIER.fit(rows.filter("number < 0")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no rows to train on");
    assertThatThrownBy(() -> validated(CLASSIFIER).fit(rows.withColumn("held", lit(true))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no rows to train on")
        .hasMessageContaining("240");
  }

  @Test
  void aDatasetOfOneClassIsRefused() {
    assertThatThrownBy(() -> CLASSIFIER.fit(rows.filter("label = 1")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("All 120 rows have the label 1.0");
  }

  @Test
  void aRowWhoseValidationFlagIsNullIsTrainedOn() {
    Dataset<Row> held =
        rows.withColumn("held", when(col("number").lt(ROWS / 4), lit(true)).otherwise(null));

    assertKnowsTheRows(validated(CLASSIFIER.withEarlyStopping(3)).fit(held));
  }

  @ParameterizedTest
  @CsvSource({"features, vector", "label, double", "größe, double"})
  void aNullNamesItsColumn(String column, String type) {
    Dataset<Row> whole = rows.withColumn("größe", lit(1.0));
    Dataset<Row> withNull = whole.withColumn(column, when(col("number").notEqual(7), col(column)));
    LightGbm weighted = CLASSIFIER.withColumns(LightGbmColumns.defaults().withWeight("größe"));

    assertThatThrownBy(() -> weighted.fit(withNull))
        .hasStackTraceContaining("column " + column)
        .hasStackTraceContaining("is null");
  }

  @ParameterizedTest
  @CsvSource({
    "features, 'array(1.0D, 2.0D)', array<double>, a vector",
    "features, number, int, a vector",
    "label, 'cast(label as string)', string, a number",
    "label, current_date(), date, a number",
    "w, '\"much\"', string, a number",
    "held, '\"validation\"', string, a boolean",
    "held, '\"true\"', string, a boolean",
    "held, number, int, a boolean",
    "held, 'cast(number as double)', double, a boolean"
  })
  void aColumnOfAnotherTypeIsRefusedByName(
      String column, String expression, String type, String wanted) {
    LightGbm training =
        CLASSIFIER.withColumns(LightGbmColumns.defaults().withWeight("w").withValidation("held"));
    Dataset<Row> all = rows.withColumn("w", lit(1.0)).withColumn("held", col("number").lt(60));

    for (String ansi : new String[] {"true", "false"}) {
      spark.conf().set("spark.sql.ansi.enabled", ansi);
      try {
        assertThatThrownBy(() -> training.fit(all.withColumn(column, expr(expression))))
            .as("ANSI %s", ansi)
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("column " + column + " is of type " + type)
            .hasMessageContaining(wanted);
      } finally {
        spark.conf().unset("spark.sql.ansi.enabled");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"cast(label as int)", "label = 1", "cast(label as decimal(3,1))", "float(label)"})
  void labelsAndWeightsMayBeOfAnyNumericType(String expression) {
    LightGbm weighted = CLASSIFIER.withColumns(LightGbmColumns.defaults().withWeight("w"));

    assertKnowsTheRows(
        weighted.fit(rows.withColumn("w", lit(true)).withColumn("label", expr(expression))));
  }

  @Test
  void aModelNamesTheColumnsThatItCannotUse() {
    LightGbmModel model = CLASSIFIER.fit(rows);
    Dataset<Row> withNull =
        rows.withColumn("features", when(col("number").notEqual(7), col("features")));

    assertThatThrownBy(() -> model.transform(rows, "feature", "predicted"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("feature");
    assertThatThrownBy(() -> model.transform(rows, "features", "label"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has a column label already");
    assertThatThrownBy(() -> model.transform(withNull, "features", "predicted").count())
        .hasStackTraceContaining("(column features) are null");
  }

  @ParameterizedTest
  @CsvSource({
    "binary, 2, label + 1, 2.0",
    "binary, 2, 2 * label - 1, -1.0",
    "binary, 2, label / 2, 0.5",
    "multiclass, 2, label + 1, 2.0",
    "softmax, 2, label + 1, 2.0",
    "ova, 2, label / 2, 0.5"
  })
  void labelsThatAreNoClassesAreRefused(String objective, int classes, String label, double wrong) {
    LightGbm training =
        LightGbm.withParameters(
            objective.equals("binary")
                ? Map.of("objective", objective, "verbosity", "-1")
                : Map.of(
                    "app", objective, "num_classes", String.valueOf(classes), "verbosity", "-1"));
    Dataset<Row> relabelled = rows.selectExpr("features", label + " as label");

    assertThatThrownBy(() -> training.fit(relabelled))
        .hasStackTraceContaining("the label " + wrong)
        .hasStackTraceContaining("0 to 1");
  }
}
