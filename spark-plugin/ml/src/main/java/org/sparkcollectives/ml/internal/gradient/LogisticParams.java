package org.sparkcollectives.ml.internal.gradient;

import java.io.Serializable;
import java.util.Locale;
import org.apache.spark.ml.classification.LogisticRegression;

/**
 * The Params of a logistic regression that its ranks need.
 *
 * @param elasticNet how much of the penalty is on absolute values, from 0 to 1
 * @param thresholds how many thresholds are set; -1 for none
 */
record LogisticParams(
    String family,
    boolean fitIntercept,
    double regularization,
    double elasticNet,
    boolean standardization,
    int maxIterations,
    double tolerance,
    int thresholds,
    CoefficientBounds bounds)
    implements Serializable {

  static LogisticParams of(LogisticRegression estimator) {
    return new LogisticParams(
        estimator.getFamily().toLowerCase(Locale.ROOT),
        estimator.getFitIntercept(),
        estimator.getRegParam(),
        estimator.getElasticNetParam(),
        estimator.getStandardization(),
        estimator.getMaxIter(),
        estimator.getTol(),
        estimator.isDefined(estimator.thresholds()) ? thresholds(estimator) : -1,
        CoefficientBounds.of(estimator));
  }

  private static int thresholds(LogisticRegression estimator) {
    return estimator.get(estimator.thresholds()).get().length;
  }

  boolean isMultinomial(int classes) {
    return family.equals("multinomial") || (family.equals("auto") && classes > 2);
  }

  /** Returns whether Spark's own estimator would not refuse this number of classes. */
  boolean allow(int classes) {
    return (classes <= 2 || !family.equals("binomial"))
        && (thresholds < 0 || thresholds == classes);
  }
}
