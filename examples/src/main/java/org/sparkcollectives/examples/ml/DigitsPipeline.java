package org.sparkcollectives.examples.ml;

import java.util.Arrays;
import java.util.Locale;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.classification.LogisticRegressionModel;
import org.apache.spark.ml.feature.StandardScaler;
import org.apache.spark.ml.feature.VectorAssembler;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.sparkcollectives.ml.classification.LogisticRegression;

/**
 * Classifies images of digits with a pipeline of Spark ML: features are assembled and scaled, and a
 * logistic regression with an elastic net is fitted. Of a program for Spark alone, only the import
 * of {@link LogisticRegression} differs.
 *
 * <p>Its argument is a CSV file with 64 pixels and a digit in each row, such as {@code
 * examples/data/digits.csv}.
 */
public final class DigitsPipeline {

  private DigitsPipeline() {}

  /** Fits on four rows in five, and prints how many of the others are recognised. */
  public static void main(String[] arguments) {
    SparkSession spark = SparkSession.builder().appName("Pipeline on digits").getOrCreate();
    try {
      Dataset<Row> table = spark.read().option("inferSchema", true).csv(arguments[0]);
      Dataset<Row> digits = table.withColumnRenamed("_c64", "label");
      Dataset<Row>[] parts = digits.randomSplit(new double[] {0.8, 0.2}, 7);

      PipelineModel model = pipeline(digits.columns()).fit(parts[0]);
      LogisticRegressionModel fitted = (LogisticRegressionModel) model.stages()[2];
      double[] losses = fitted.summary().objectiveHistory();
      Dataset<Row> predicted = model.transform(parts[1]);
      long right = predicted.where("label = prediction").count();
      System.out.printf(
          Locale.ROOT,
          "loss %.3f, then %.3f after %d iterations%naccuracy on %d held-out images: %.1f%%%n",
          losses[0],
          losses[losses.length - 1],
          fitted.summary().totalIterations(),
          predicted.count(),
          100.0 * right / predicted.count());
    } finally {
      spark.stop();
    }
  }

  private static Pipeline pipeline(String[] columns) {
    String[] pixels = Arrays.copyOf(columns, 64);
    VectorAssembler assembler = new VectorAssembler().setInputCols(pixels).setOutputCol("features");
    StandardScaler scaler =
        new StandardScaler().setInputCol("features").setOutputCol("scaled").setWithMean(true);
    LogisticRegression logistic = new LogisticRegression();
    logistic.setFeaturesCol("scaled").setMaxIter(30).setRegParam(0.003).setElasticNetParam(0.5);
    return new Pipeline().setStages(new PipelineStage[] {assembler, scaler, logistic});
  }
}
