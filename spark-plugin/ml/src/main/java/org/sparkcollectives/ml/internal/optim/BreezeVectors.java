package org.sparkcollectives.ml.internal.optim;

import breeze.linalg.DenseVector;
import breeze.linalg.support.CanCopy;
import breeze.math.MutableFiniteCoordinateField;
import scala.reflect.ClassTag$;

/** Breeze's vectors of doubles, whose element type Java sees as {@code Object}. */
final class BreezeVectors {

  private BreezeVectors() {}

  /** Returns a vector over {@code values}, which are not copied. */
  @SuppressWarnings("unchecked")
  static DenseVector<Object> wrap(double[] values) {
    return (DenseVector<Object>) (DenseVector<?>) new DenseVector<>(values, 0, 1, values.length);
  }

  /** Returns a copy of the elements. */
  static double[] toArray(DenseVector<Object> vector) {
    double[] values = new double[vector.length()];
    double[] data = (double[]) vector.data();
    for (int i = 0; i < values.length; i++) {
      values[i] = data[vector.offset() + i * vector.stride()];
    }
    return values;
  }

  /** Returns the arithmetic that Breeze's optimizers take as an implicit argument in Scala. */
  @SuppressWarnings("unchecked")
  static MutableFiniteCoordinateField<DenseVector<Object>, Object, Object> space() {
    return (MutableFiniteCoordinateField<DenseVector<Object>, Object, Object>)
        (MutableFiniteCoordinateField<?, ?, ?>) DenseVector.space_Double();
  }

  /** Returns the copying that Breeze's cache takes as an implicit argument in Scala. */
  @SuppressWarnings("unchecked")
  static CanCopy<DenseVector<Object>> copying() {
    // ClassTag$.Double() has another return type in Scala 2.12.
    return (CanCopy<DenseVector<Object>>)
        (CanCopy<?>) DenseVector.canCopyDenseVector(ClassTag$.MODULE$.apply(double.class));
  }
}
