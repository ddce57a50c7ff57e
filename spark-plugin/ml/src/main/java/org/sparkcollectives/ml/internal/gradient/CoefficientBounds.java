package org.sparkcollectives.ml.internal.gradient;

import java.io.Serializable;
import java.util.Arrays;
import java.util.function.DoublePredicate;
import org.apache.spark.ml.classification.LogisticRegression;
import org.apache.spark.ml.linalg.Matrix;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.param.Param;
import scala.Option;

/**
 * The bounds of a logistic regression, in the space of the rows as they are. Each is null where it
 * is not set.
 */
record CoefficientBounds(
    Matrix lowerCoefficients,
    Matrix upperCoefficients,
    Vector lowerIntercepts,
    Vector upperIntercepts)
    implements Serializable {

  static CoefficientBounds of(LogisticRegression estimator) {
    return new CoefficientBounds(
        get(estimator, estimator.lowerBoundsOnCoefficients()),
        get(estimator, estimator.upperBoundsOnCoefficients()),
        get(estimator, estimator.lowerBoundsOnIntercepts()),
        get(estimator, estimator.upperBoundsOnIntercepts()));
  }

  private static <T> T get(LogisticRegression estimator, Param<T> param) {
    Option<T> value = estimator.get(param);
    return value.isDefined() ? value.get() : null;
  }

  boolean isEmpty() {
    return lowerCoefficients == null
        && upperCoefficients == null
        && lowerIntercepts == null
        && upperIntercepts == null;
  }

  /** Returns whether each is for as many coefficients as there are, and none is above another. */
  boolean match(int sets, int features) {
    return match(lowerCoefficients, sets, features)
        && match(upperCoefficients, sets, features)
        && match(lowerIntercepts, sets)
        && match(upperIntercepts, sets)
        && ordered(lowerCoefficients, upperCoefficients)
        && ordered(lowerIntercepts, upperIntercepts);
  }

  private static boolean match(Matrix bound, int sets, int features) {
    return bound == null || (bound.numRows() == sets && bound.numCols() == features);
  }

  private static boolean match(Vector bound, int sets) {
    return bound == null || bound.size() == sets;
  }

  private static boolean ordered(Matrix lower, Matrix upper) {
    return lower == null || upper == null || ordered(lower.toArray(), upper.toArray());
  }

  private static boolean ordered(Vector lower, Vector upper) {
    return lower == null || upper == null || ordered(lower.toArray(), upper.toArray());
  }

  private static boolean ordered(double[] lower, double[] upper) {
    for (int i = 0; i < lower.length; i++) {
      if (!(lower[i] <= upper[i])) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether no intercept is bounded, be it that all its bounds are infinite. */
  boolean leaveInterceptsFree() {
    return all(lowerIntercepts, value -> value == Double.NEGATIVE_INFINITY)
        && all(upperIntercepts, value -> value == Double.POSITIVE_INFINITY);
  }

  private static boolean all(Vector bound, DoublePredicate test) {
    return bound == null || Arrays.stream(bound.toArray()).allMatch(test);
  }

  /** Returns the lower bounds for scaled rows. */
  double[] lower(int sets, boolean intercept, double[] std) {
    return scaled(
        lowerCoefficients, lowerIntercepts, Double.NEGATIVE_INFINITY, sets, intercept, std);
  }

  /** Returns the upper bounds for scaled rows. */
  double[] upper(int sets, boolean intercept, double[] std) {
    return scaled(
        upperCoefficients, upperIntercepts, Double.POSITIVE_INFINITY, sets, intercept, std);
  }

  private static double[] scaled(
      Matrix coefficients,
      Vector intercepts,
      double none,
      int sets,
      boolean intercept,
      double[] std) {
    double[] bounds = new double[sets * (std.length + (intercept ? 1 : 0))];
    Arrays.fill(bounds, none);
    if (coefficients != null) {
      for (int i = 0; i < sets * std.length; i++) {
        bounds[i] = coefficients.apply(i % sets, i / sets) * std[i / sets];
      }
    }
    if (intercepts != null) {
      for (int k = 0; k < sets; k++) {
        bounds[sets * std.length + k] = intercepts.apply(k);
      }
    }
    return bounds;
  }
}
