package org.sparkcollectives.lightgbm;

import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.apache.spark.TaskContext;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.TaskCompletionListener;

/**
 * A trained LightGBM model. To save it, write its text to a file, which every LightGBM of version
 * 3.3 or later reads; {@code new LightGbmModel(text, "")} is the model again. It is not a stage of
 * a Spark ML pipeline.
 *
 * @param text the model in LightGBM's own format, as {@code Booster.save_model} writes it
 * @param library the path of LightGBM's library for predictions; empty for that of the jar
 */
public record LightGbmModel(String text, String library) implements Serializable {

  private static final long serialVersionUID = 1;

  /** Checks that there is a text. */
  public LightGbmModel {
    Objects.requireNonNull(text, "text");
    Objects.requireNonNull(library, "library");
  }

  /**
   * Returns {@code dataset} with a further column of predictions, an array of numbers for each row
   * as of {@link Predictor#predict}. The executors need LightGBM's library.
   *
   * @param features the column with the features, a vector
   * @param prediction the name of the new column
   * @throws IllegalArgumentException if there is no column {@code features}, or there is one of the
   *     new name already
   */
  public Dataset<Row> transform(Dataset<?> dataset, String features, String prediction) {
    if (List.of(dataset.columns()).contains(prediction)) {
      throw new IllegalArgumentException(
          "The dataset has a column " + prediction + " already: drop it, or choose another name");
    }
    StructType schema =
        dataset
            .schema()
            .add(prediction, DataTypes.createArrayType(DataTypes.DoubleType, false), false);
    int column = dataset.schema().fieldIndex(features);
    LightGbmModel model = this;
    return dataset
        .toDF()
        .mapPartitions((Iterator<Row> rows) -> model.predict(rows, column), Encoders.row(schema));
  }

  private Iterator<Row> predict(Iterator<Row> rows, int column) {
    Predictor predictor = predictor();
    TaskCompletionListener close = ended -> predictor.close();
    TaskContext.get().addTaskCompletionListener(close);
    return new PredictedRows(rows, column, predictor);
  }

  /** The rows of a partition, each with its prediction at the end. */
  private record PredictedRows(Iterator<Row> rows, int column, Predictor predictor)
      implements Iterator<Row> {

    @Override
    public boolean hasNext() {
      return rows.hasNext();
    }

    @Override
    public Row next() {
      Row row = rows.next();
      Object[] values = new Object[row.size() + 1];
      for (int i = 0; i < row.size(); i++) {
        values[i] = row.get(i);
      }
      if (row.isNullAt(column)) {
        throw new IllegalArgumentException(
            "The features of a row (column " + row.schema().fieldNames()[column] + ") are null");
      }
      values[row.size()] = predictor.predict(((Vector) row.get(column)).toArray());
      return RowFactory.create(values);
    }
  }

  /** Returns a predictor, to be used by one thread, and closed. */
  public Predictor predictor() {
    return new Predictor(NativeBooster.ofModel(library, text));
  }

  /** Predicts in this process. Not thread-safe. */
  public static final class Predictor implements AutoCloseable {

    private final NativeBooster booster;
    private final int features;
    private final double[] out;

    private Predictor(NativeBooster booster) {
      this.booster = booster;
      this.features = booster.features();
      this.out = new double[booster.outputs()];
    }

    /**
     * Returns the prediction for a row: the value, the probability of class 1, or the probability
     * of each class.
     *
     * @throws IllegalArgumentException if the model has another number of features
     */
    public double[] predict(double... row) {
      if (row.length != features) {
        throw new IllegalArgumentException(
            "The model has " + features + " features, and the row " + row.length);
      }
      booster.predict(row, out);
      return out.clone();
    }

    @Override
    public void close() {
      booster.close();
    }
  }
}
