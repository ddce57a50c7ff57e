package org.sparkcollectives.ml.internal.stage;

import org.apache.spark.SparkException;

/** Checks what a fit has found: a model that has a NaN would predict nothing else. */
public final class FittedNumbers {

  private FittedNumbers() {}

  /**
   * Requires that no number is NaN. Else throws {@code SparkException}, undeclared, as Spark's own
   * fits do; the message says what leads to it.
   *
   * @param estimator the uid of the estimator
   * @param found coefficients, centers or whatever the model consists of
   */
  public static void require(String estimator, double[] found) {
    for (double number : found) {
      if (Double.isNaN(number)) {
        throw Unchecked.of(
            new SparkException(
                estimator
                    + ": the fit has ended in NaN, and gives no model. Look for weights that are all 0,"
                    + " for labels and features so large that their squares or exponentials exceed a"
                    + " double, for labels of 0 or below where a logarithm is taken, or for a step size"
                    + " that is too large"));
      }
    }
  }
}
