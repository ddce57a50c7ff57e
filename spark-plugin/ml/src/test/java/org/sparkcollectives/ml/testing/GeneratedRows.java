package org.sparkcollectives.ml.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Rows in two partitions, always the same: dense and sparse features of different scales, one of
 * them constant, a weight, an indicator {@code censor}, and labels {@code binary}, {@code ternary},
 * {@code value} and {@code time}.
 */
public final class GeneratedRows {

  /** How many features a row has. */
  public static final int FEATURES = 6;

  private static final StructType SCHEMA =
      new StructType()
          .add("features", SQLDataTypes.VectorType())
          .add("weight", DataTypes.DoubleType)
          .add("censor", DataTypes.DoubleType)
          .add("binary", DataTypes.DoubleType)
          .add("ternary", DataTypes.DoubleType)
          .add("value", DataTypes.DoubleType)
          .add("time", DataTypes.DoubleType);

  private GeneratedRows() {}

  /** Returns a dataset of {@code count} rows. */
  public static Dataset<Row> of(SparkSession spark, int count) {
    Random random = new Random(20);
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      rows.add(row(random, i));
    }
    return spark.createDataFrame(
        new JavaSparkContext(spark.sparkContext()).parallelize(rows, LocalCluster.SLOTS), SCHEMA);
  }

  private static Row row(Random random, int i) {
    double[] x = new double[FEATURES];
    for (int j = 0; j < FEATURES - 1; j++) {
      x[j] = random.nextInt(3) == 0 ? 0 : (j + 1) * (random.nextGaussian() + 0.3);
    }
    x[FEATURES - 1] = 2.5;
    double score = x[0] - 0.5 * x[1] + 0.2 * x[3] + random.nextGaussian();
    Vector features = i % 2 == 0 ? Vectors.dense(x) : Vectors.dense(x).toSparse();
    return RowFactory.create(
        features,
        0.5 + random.nextInt(4),
        (double) random.nextInt(2),
        score > 0.2 ? 1.0 : 0.0,
        score > 0.8 ? 2.0 : score > -0.5 ? 1.0 : 0.0,
        3 + score,
        Math.exp(0.3 * score) + 0.01);
  }
}
