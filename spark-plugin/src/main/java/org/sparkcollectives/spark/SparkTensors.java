package org.sparkcollectives.spark;

import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.ml.linalg.DenseMatrix;
import org.apache.spark.ml.linalg.DenseVector;
import org.apache.spark.ml.linalg.SparseVector;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.sql.Row;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;

/**
 * Spark's vectors, matrices and rows as {@link org.sparkcollectives.DType#FLOAT64} tensors. Needs
 * Spark ML and Spark SQL in the application; nothing else here does.
 */
public final class SparkTensors {

  private SparkTensors() {}

  /**
   * The vector's own memory, of the shape {@code [size]}. Not a copy: a result is in the vector.
   */
  public static Tensor of(DenseVector vector) {
    return Tensor.of(vector.values());
  }

  /**
   * The matrix's own memory. Not a copy: a result is in the matrix.
   *
   * <p>Spark stores matrices by columns, tensors are stored by rows: the tensor is the transposed
   * matrix, of the shape {@code [numCols, numRows]}. Only of a matrix that is itself stored as
   * transposed ({@code isTransposed}) it has the shape {@code [numRows, numCols]}.
   */
  public static Tensor of(DenseMatrix matrix) {
    Tensor values = Tensor.of(matrix.values());
    return matrix.isTransposed()
        ? values.reshape(matrix.numRows(), matrix.numCols())
        : values.reshape(matrix.numCols(), matrix.numRows());
  }

  /** The vector's own values, with copies of their places; of the shape {@code [size]}. */
  public static SparseTensor of(SparseVector vector) {
    long[] places = Arrays.stream(vector.indices()).asLongStream().toArray();
    return SparseTensor.of(
        new long[] {vector.size()},
        Tensor.of(places).reshape(1, places.length),
        Tensor.of(vector.values()));
  }

  /**
   * Copies columns of rows, of the shape {@code [rows, width]}: numbers are one wide, a column of
   * vectors is as wide as each of them. Reads the iterator to its end.
   *
   * @param columns names of columns of numbers or of Spark ML vectors, side by side in this order
   * @throws IllegalArgumentException if a value is null or of another type, or a vector is not as
   *     long as those before it; names the row, counted from 0, and the column
   */
  public static Tensor columns(Iterator<Row> rows, String... columns) {
    if (columns.length == 0) {
      throw new IllegalArgumentException("Name at least one column");
    }
    RowValues values = new RowValues(List.of(columns));
    while (rows.hasNext()) {
      values.append(rows.next());
    }
    return values.toTensor();
  }

  /** The values of some columns, row by row. */
  private static final class RowValues {
    private final List<String> columns;
    private final int[] widths;
    private double[] values = new double[1024];
    private int end;
    private int rows;

    RowValues(List<String> columns) {
      this.columns = columns;
      this.widths = new int[columns.size()];
    }

    void append(Row row) {
      for (int i = 0; i < widths.length; i++) {
        Object value = row.get(row.fieldIndex(columns.get(i)));
        int before = end;
        if (value instanceof Number number) {
          reserve(1);
          values[end++] = number.doubleValue();
        } else if (value instanceof Vector vector) {
          reserve(vector.size());
          System.arraycopy(vector.toArray(), 0, values, end, vector.size());
          end += vector.size();
        } else {
          throw refused(i, value == null ? "is null" : "is a " + value.getClass().getName());
        }
        int width = end - before;
        if (rows == 0) {
          widths[i] = width;
        } else if (widths[i] != width) {
          throw refused(i, "is " + width + " wide, not " + widths[i] + " as in the rows before");
        }
      }
      rows++;
    }

    private void reserve(int more) {
      if (end + more > values.length) {
        values = Arrays.copyOf(values, Math.max(end + more, 2 * values.length));
      }
    }

    private IllegalArgumentException refused(int column, String what) {
      return new IllegalArgumentException(
          "Column \""
              + columns.get(column)
              + "\" of row "
              + rows
              + " "
              + what
              + "; a tensor takes numbers and Spark ML vectors of one length");
    }

    Tensor toTensor() {
      return Tensor.of(values).slice(0, end).reshape(rows, Arrays.stream(widths).sum());
    }
  }
}
