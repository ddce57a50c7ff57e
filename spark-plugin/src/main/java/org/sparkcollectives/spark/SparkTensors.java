package org.sparkcollectives.spark;

import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.apache.spark.ml.linalg.DenseMatrix;
import org.apache.spark.ml.linalg.DenseVector;
import org.apache.spark.ml.linalg.SparseVector;
import org.apache.spark.sql.Row;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spark.internal.executor.RowValues;

/**
 * Converts Spark's vectors, matrices and rows to {@link org.sparkcollectives.DType#FLOAT64}
 * tensors. The only class of this package that needs Spark ML and Spark SQL.
 */
public final class SparkTensors {

  private SparkTensors() {}

  /**
   * Returns a tensor over the vector's own memory, of the shape {@code [size]}. It is not a copy: a
   * result is in the vector.
   */
  public static Tensor of(DenseVector vector) {
    return Tensor.of(vector.values());
  }

  /**
   * Returns a tensor over the matrix's own memory. It is not a copy: a result is in the matrix.
   *
   * <p>Spark stores matrices by columns, and tensors are stored by rows. So the tensor is the
   * transposed matrix, of the shape {@code [numCols, numRows]}. If the matrix itself is stored
   * transposed ({@code isTransposed}), the tensor has the shape {@code [numRows, numCols]}.
   */
  public static Tensor of(DenseMatrix matrix) {
    Tensor values = Tensor.of(matrix.values());
    return matrix.isTransposed()
        ? values.reshape(matrix.numRows(), matrix.numCols())
        : values.reshape(matrix.numCols(), matrix.numRows());
  }

  /**
   * Returns a tensor over the vector's own values, with copies of their indices; of the shape
   * {@code [size]}.
   */
  public static SparseTensor of(SparseVector vector) {
    long[] places = Arrays.stream(vector.indices()).asLongStream().toArray();
    return SparseTensor.of(
        new long[] {vector.size()},
        Tensor.of(places).reshape(1, places.length),
        Tensor.of(vector.values()));
  }

  /**
   * Copies columns of rows to a tensor of the shape {@code [rows, width]}: a column of numbers is
   * one wide, a column of vectors is as wide as each of them. Reads the iterator to its end.
   * Decimals, and integers of more than 53 bits, become the nearest double.
   *
   * <p>An iterator without rows does not tell how wide its vectors would be. They then count as one
   * wide: the shape is {@code [0, columns.length]}.
   *
   * @param rows with a schema, as those of a {@code DataFrame} have
   * @param columns names of columns of numbers or of Spark ML vectors, side by side in this order
   * @throws IllegalArgumentException if there is no such column; if a value is null, of another
   *     type, a number among vectors or a vector among numbers, or not as long as those before it;
   *     if there are more values than an array can hold, about 2<sup>31</sup>. Names the row,
   *     counted from 0, and the column
   */
  public static Tensor columns(Iterator<Row> rows, String... columns) {
    if (columns.length == 0) {
      throw new IllegalArgumentException("Name at least one column");
    }
    RowValues values = new RowValues(List.of(columns));
    Objects.requireNonNull(rows, "rows");
    while (rows.hasNext()) {
      values.append(rows.next());
    }
    return values.toTensor();
  }
}
