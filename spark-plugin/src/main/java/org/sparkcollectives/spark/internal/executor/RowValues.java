package org.sparkcollectives.spark.internal.executor;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.ml.linalg.DenseVector;
import org.apache.spark.ml.linalg.SparseVector;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.sql.Row;
import org.sparkcollectives.Tensor;

/** The values of some columns, row by row, in one array that grows. */
public final class RowValues {

  /** The longest array that every JVM can make. */
  private static final int MOST_VALUES = Integer.MAX_VALUE - 8;

  private final List<Column> columns;
  private double[] values = new double[1024];
  private int end;
  private int rows;

  /** A column, and its form in the first row. */
  private static final class Column {
    final String name;
    boolean ofVectors;
    int width = 1;

    Column(String name) {
      this.name = name;
    }
  }

  public RowValues(List<String> names) {
    this.columns = names.stream().map(Column::new).toList();
  }

  public void append(Row row) {
    if (row == null) {
      throw new IllegalArgumentException("Row " + rows + " is null");
    }
    if (row.schema() == null) {
      throw new IllegalArgumentException(
          "Row "
              + rows
              + " has no schema, so its columns have no names; take those of a DataFrame");
    }
    for (Column column : columns) {
      append(row.get(row.fieldIndex(column.name)), column);
    }
    rows++;
  }

  private void append(Object value, Column column) {
    if (value instanceof Number number) {
      reserve(column, false, 1);
      values[end++] = number.doubleValue();
    } else if (value instanceof Vector vector) {
      reserve(column, true, vector.size());
      copy(vector);
      end += vector.size();
    } else {
      throw refused(column, value == null ? "is null" : "is a " + value.getClass().getName());
    }
  }

  private void copy(Vector vector) {
    if (vector instanceof DenseVector dense) {
      System.arraycopy(dense.values(), 0, values, end, dense.size());
    } else {
      // Nothing was written behind the end yet, so the other elements are 0.
      SparseVector sparse = (SparseVector) vector;
      for (int i = 0; i < sparse.indices().length; i++) {
        values[end + sparse.indices()[i]] = sparse.values()[i];
      }
    }
  }

  /** Checks that a value has the form of the rows before, and reserves space for it. */
  private void reserve(Column column, boolean isVector, int width) {
    if (rows == 0) {
      column.ofVectors = isVector;
      column.width = width;
    } else if (column.ofVectors != isVector) {
      throw refused(
          column,
          isVector
              ? "is a vector of " + width + ", not a number as in the rows before"
              : "is a number, not a vector of " + column.width + " as in the rows before");
    } else if (column.width != width) {
      throw refused(
          column,
          "is a vector of " + width + ", not of " + column.width + " as in the rows before");
    }
    long needed = (long) end + width;
    if (needed > MOST_VALUES) {
      throw refused(
          column,
          "is one too many: with it there would be "
              + needed
              + " values, and an array holds "
              + MOST_VALUES
              + " at the most. Make more partitions, or take fewer rows at a time");
    }
    if (needed > values.length) {
      values = Arrays.copyOf(values, (int) Math.min(MOST_VALUES, Math.max(needed, 2L * end)));
    }
  }

  private IllegalArgumentException refused(Column column, String what) {
    return new IllegalArgumentException(
        "Column \""
            + column.name
            + "\" of row "
            + rows
            + " "
            + what
            + " [a tensor takes numbers, and Spark ML vectors of one length]");
  }

  public Tensor toTensor() {
    int width = columns.stream().mapToInt(column -> column.width).sum();
    return Tensor.of(values).slice(0, end).reshape(rows, width);
  }
}
