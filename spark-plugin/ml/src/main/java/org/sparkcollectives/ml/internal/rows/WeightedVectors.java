package org.sparkcollectives.ml.internal.rows;

import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.ml.feature.Instance;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.util.DatasetUtils$;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import scala.Option;

/**
 * The columns of an unsupervised fit, checked as Spark's own estimators check them: a null, NaN or
 * infinity in the features, and a weight below 0, fail the task that reads it with Spark's own
 * message.
 */
public final class WeightedVectors {

  private WeightedVectors() {}

  /**
   * Returns weights and features of {@code dataset}, as instances whose label is 0, in the
   * partitions and the order of the dataset.
   *
   * @param weightColumn the name of the column with the weights; empty for 1
   * @param featuresColumn the name of the column with the features: vectors, or arrays of numbers
   */
  public static JavaRDD<Instance> of(
      Dataset<?> dataset, Option<String> weightColumn, String featuresColumn) {
    DatasetUtils$ columns = DatasetUtils$.MODULE$;
    return dataset
        .select(
            VectorColumn.checked(columns.columnToVector(dataset, featuresColumn)),
            columns.checkNonNegativeWeights(weightColumn))
        .toJavaRDD()
        .map(WeightedVectors::decode);
  }

  private static Instance decode(Row row) {
    return new Instance(0, row.getDouble(1), (Vector) row.get(0));
  }
}
