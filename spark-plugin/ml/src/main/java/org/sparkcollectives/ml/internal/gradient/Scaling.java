package org.sparkcollectives.ml.internal.gradient;

import dev.ludovic.netlib.blas.JavaBLAS;
import java.util.Arrays;
import java.util.Optional;
import org.apache.spark.ml.optim.loss.L2Regularization;
import org.sparkcollectives.ml.internal.rows.Statistics;
import scala.Function1;
import scala.Option;
import scala.runtime.AbstractFunction1;

/**
 * The space in which the optimizers work: each feature is divided by its deviation, and, with an
 * intercept, centred. Coefficients lie class after class of the first feature, then of the next,
 * and the intercepts of all classes come last; most estimators have one class.
 */
final class Scaling {

  private final Statistics statistics;
  private final int classes;

  /** Creates the space for rows of these {@code statistics}. */
  Scaling(Statistics statistics, int classes) {
    this.statistics = statistics;
    this.classes = classes;
  }

  /**
   * Returns the quadratic penalty on the coefficients, but not on the intercepts.
   *
   * @param standardization whether the scaled coefficients are what is small
   */
  Optional<L2Regularization> quadraticPenalty(double factor, boolean standardization) {
    if (factor == 0) {
      return Optional.empty();
    }
    int coefficients = classes * statistics.features();
    double[] std = statistics.std();
    Function1<Object, Object> applies =
        new AbstractFunction1<>() {
          @Override
          public Object apply(Object index) {
            return (Integer) index >= 0 && (Integer) index < coefficients;
          }
        };
    Function1<Object, Object> deviation =
        new AbstractFunction1<>() {
          @Override
          public Object apply(Object index) {
            int i = (Integer) index;
            return i >= 0 && i < coefficients ? std[i / classes] : 0.0;
          }
        };
    return Optional.of(
        new L2Regularization(
            factor, applies, standardization ? Option.empty() : Option.apply(deviation)));
  }

  /**
   * Returns the penalty on the absolute value of each coefficient; 0 for the intercepts.
   *
   * @param length of all coefficients and intercepts
   */
  double[] absolutePenalties(double factor, boolean standardization, int length) {
    double[] penalties = new double[length];
    double[] std = statistics.std();
    for (int i = 0; i < classes * std.length; i++) {
      double deviation = standardization ? 1 : std[i / classes];
      penalties[i] = deviation == 0 ? 0 : factor / deviation;
    }
    return penalties;
  }

  /**
   * Moves the intercepts in {@code coefficients} to where they belong if the features are centred
   * ({@code sign} 1), or back (-1).
   */
  void shiftIntercepts(double[] coefficients, double sign) {
    double[] mean = statistics.scaledMean();
    if (classes == 1) {
      coefficients[mean.length] +=
          sign * JavaBLAS.getInstance().ddot(mean.length, coefficients, 1, mean, 1);
      return;
    }
    double[] shift = new double[classes];
    JavaBLAS.getInstance()
        .dgemv("N", classes, mean.length, 1, coefficients, classes, mean, 1, 0, shift, 1);
    for (int k = 0; k < classes; k++) {
      coefficients[classes * mean.length + k] += sign * shift[k];
    }
  }

  /** Returns the coefficients of one class for the features as they are in the rows. */
  double[] unscale(double[] coefficients, int k) {
    double[] std = statistics.std();
    double[] unscaled = new double[std.length];
    for (int j = 0; j < std.length; j++) {
      unscaled[j] = std[j] == 0 ? 0 : coefficients[j * classes + k] / std[j];
    }
    return unscaled;
  }

  /**
   * Returns the coefficients of the only class for the features as they are, and behind them the
   * intercept, where the features were centred for it; 0 if there is none.
   */
  double[] unscaleCentred(double[] solution, boolean fitIntercept) {
    int features = statistics.features();
    double[] found = solution.clone();
    if (fitIntercept) {
      shiftIntercepts(found, -1);
    }
    double[] unscaled = Arrays.copyOf(unscale(found, 0), features + 1);
    unscaled[features] = fitIntercept ? found[features] : 0;
    return unscaled;
  }
}
