package org.sparkcollectives.ml.clustering;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

/** Rows to be clustered, with the columns "features" and "weight". */
final class Points {

  private static final StructType SCHEMA =
      new StructType()
          .add("features", SQLDataTypes.VectorType())
          .add("weight", DataTypes.DoubleType);

  private Points() {}

  /** Returns the 1,797 handwritten digits, with weights from 0 to 2. */
  static Dataset<Row> digits(SparkSession spark, int partitions) {
    List<Row> rows = new ArrayList<>();
    for (String line : lines(Path.of("../../examples/data/digits.csv"))) {
      String[] fields = line.split(",", -1);
      double[] pixels = new double[fields.length - 1];
      for (int i = 0; i < pixels.length; i++) {
        pixels[i] = Double.parseDouble(fields[i]);
      }
      rows.add(RowFactory.create(Vectors.dense(pixels), rows.size() % 5 / 2.0));
    }
    return of(spark, partitions, rows);
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns random rows around {@code clusters} points, with random weights. */
  static Dataset<Row> around(SparkSession spark, int clusters, int count, int features) {
    Random random = new Random(clusters);
    double[][] middles = new double[clusters][];
    for (int i = 0; i < clusters; i++) {
      middles[i] = random.doubles(features, -10, 10).toArray();
    }
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      double[] row = middles[i % clusters].clone();
      for (int j = 0; j < features; j++) {
        row[j] += random.nextGaussian();
      }
      rows.add(RowFactory.create(Vectors.dense(row), random.nextDouble()));
    }
    return of(spark, 2, rows);
  }

  /** Returns rows of the weight 1. */
  static Dataset<Row> of(SparkSession spark, int partitions, Vector... vectors) {
    List<Row> rows = new ArrayList<>();
    for (Vector vector : vectors) {
      rows.add(RowFactory.create(vector, 1.0));
    }
    return of(spark, partitions, rows);
  }

  static Dataset<Row> of(SparkSession spark, int partitions, List<Row> rows) {
    return spark.createDataFrame(
        new JavaSparkContext(spark.sparkContext()).parallelize(rows, partitions), SCHEMA);
  }
}
