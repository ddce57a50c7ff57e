package org.sparkcollectives.lightgbm;

import static org.apache.spark.sql.functions.coalesce;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;

import java.io.Serializable;
import java.util.Iterator;
import java.util.function.Predicate;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.NumericType;

/** Reads the columns of a dataset that a training needs: features, label, weight, validation. */
record DatasetRows(LightGbmColumns columns) implements Serializable {

  private static final long serialVersionUID = 1;

  private static final int FEATURES = 0;
  private static final int LABEL = 1;
  private static final int WEIGHT = 2;
  private static final int VALIDATION = 3;
  private static final String A_NUMBER = "a number: cast it, or index it with StringIndexer";

  /** The rows of a rank. */
  public record Read(TrainingRows train, TrainingRows validation) {}

  /**
   * Returns the columns.
   *
   * @throws IllegalArgumentException naming a column whose type is not what it must be. To cast it
   *     here would turn texts into nulls, and a null is a row to train on where it should say
   *     whether to
   */
  public Dataset<Row> of(Dataset<?> dataset) {
    require(
        dataset,
        columns.features(),
        SQLDataTypes.VectorType()::equals,
        "a vector: see VectorAssembler");
    require(dataset, columns.label(), DatasetRows::isNumber, A_NUMBER);
    if (!columns.weight().isEmpty()) {
      require(dataset, columns.weight(), DatasetRows::isNumber, A_NUMBER);
    }
    if (!columns.validation().isEmpty()) {
      require(
          dataset,
          columns.validation(),
          DataTypes.BooleanType::equals,
          "a boolean: compare it with the value that marks validation rows");
    }
    return dataset.select(
        col(columns.features()),
        col(columns.label()).cast("double"),
        columns.weight().isEmpty() ? lit(1.0) : col(columns.weight()).cast("double"),
        columns.validation().isEmpty()
            ? lit(false)
            : coalesce(col(columns.validation()).cast("boolean"), lit(false)));
  }

  private static void require(
      Dataset<?> dataset, String column, Predicate<DataType> fits, String wanted) {
    DataType type = dataset.select(col(column)).schema().apply(0).dataType();
    if (!fits.test(type)) {
      throw new IllegalArgumentException(
          "The column " + column + " is of type " + type.simpleString() + " and must be " + wanted);
    }
  }

  private static boolean isNumber(DataType type) {
    return type instanceof NumericType || type.equals(DataTypes.BooleanType);
  }

  /**
   * Returns the kind of a row for {@link DealtRows}.
   *
   * @param classes whether labels are classes
   */
  public double kind(Row row, boolean classes) {
    if (row.getBoolean(VALIDATION)) {
      return DealtRows.VALIDATION;
    }
    return classes ? row.getDouble(LABEL) + 0.0 : 0; // -0.0 is the class 0.
  }

  /**
   * Reads the rows of a rank.
   *
   * @throws IllegalArgumentException naming the column of a value that is null
   */
  public Read read(Iterator<Row> rows) {
    TrainingRows train = new TrainingRows(1);
    TrainingRows validation = new TrainingRows(1);
    for (int i = 0; rows.hasNext(); i++) {
      Row row = rows.next();
      requireNoNull(row, i);
      double[] features = ((Vector) row.get(FEATURES)).toArray();
      if (i == 0) {
        train = new TrainingRows(features.length);
        validation = new TrainingRows(features.length);
      }
      (row.getBoolean(VALIDATION) ? validation : train)
          .add(features, row.getDouble(LABEL), row.getDouble(WEIGHT));
    }
    return new Read(train, validation);
  }

  private void requireNoNull(Row row, int number) {
    String[] names = {columns.features(), columns.label(), columns.weight()};
    for (int i = 0; i < names.length; i++) {
      if (row.isNullAt(i)) {
        throw new IllegalArgumentException(
            "The column "
                + names[i]
                + " of row "
                + number
                + " of a rank is null: fill it, or filter the row out");
      }
    }
  }
}
