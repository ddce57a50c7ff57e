package org.sparkcollectives.ml.internal.rows;

import org.apache.spark.ml.linalg.DenseVector;
import org.apache.spark.ml.linalg.SparseVector;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.util.DatasetUtils$;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.expressions.UserDefinedFunction;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;

/**
 * A column of vectors, checked as Spark's own estimators check it: a null, NaN or infinity fails
 * the task that reads it with Spark's own message.
 *
 * <p>Spark's check is an expression over each element, which costs more than all iterations of a
 * short fit. Here a loop over the array passes the good vectors, and Spark's check sees the others
 * only.
 */
public final class VectorColumn {

  private static final UserDefinedFunction IS_FINITE =
      functions.udf((UDF1<Vector, Boolean>) VectorColumn::isFinite, DataTypes.BooleanType);

  private VectorColumn() {}

  /** Returns {@code vectors}, whose null, NaN or infinity fails the task. */
  public static Column checked(Column vectors) {
    return functions
        .when(IS_FINITE.apply(vectors), vectors)
        .otherwise(DatasetUtils$.MODULE$.checkNonNanVectors(vectors));
  }

  private static boolean isFinite(Vector vector) {
    if (vector == null) {
      return false;
    }
    // The stored values of a sparse vector, which are all that Spark's check looks at.
    double[] values =
        vector instanceof SparseVector sparse ? sparse.values() : ((DenseVector) vector).values();
    for (double value : values) {
      if (!Double.isFinite(value)) {
        return false;
      }
    }
    return true;
  }
}
