package org.sparkcollectives.ml.internal.rows;

import org.apache.spark.ml.feature.Instance;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.util.DatasetUtils$;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import scala.Option;

/**
 * The columns of a supervised fit, checked as Spark's own estimators check them: a null or NaN in
 * label or features, and a weight below 0, fail the task that reads it with Spark's own message.
 */
public final class InstanceRows {

  private InstanceRows() {}

  /**
   * Returns label, weight and features of {@code dataset}.
   *
   * @param label the label, checked
   * @param weightColumn the name of the column with the weights; empty for 1
   * @param featuresColumn the name of the column with the features
   */
  public static Dataset<Row> select(
      Dataset<?> dataset, Column label, Option<String> weightColumn, String featuresColumn) {
    return dataset.select(
        label,
        DatasetUtils$.MODULE$.checkNonNegativeWeights(weightColumn),
        VectorColumn.checked(functions.col(featuresColumn)));
  }

  /** Returns a row of {@link #select} as Spark's own instance. */
  public static Instance decode(Row row) {
    return new Instance(row.getDouble(0), row.getDouble(1), (Vector) row.get(2));
  }
}
