package org.sparkcollectives.ml.internal.optim;

import breeze.linalg.DenseVector;
import breeze.optimize.DiffFunction;
import breeze.optimize.FirstOrderMinimizer;
import breeze.optimize.LBFGS;
import breeze.optimize.LBFGSB;
import breeze.optimize.OWLQN;
import scala.runtime.AbstractFunction1;

/** One of Breeze's optimizers, with the arguments that Spark's own estimators give it. */
public final class Minimizer {

  /** How many steps the approximation of the Hessian remembers. */
  private static final int CORRECTIONS = 10;

  private final int maxIterations;
  private final FirstOrderMinimizer<DenseVector<Object>, DiffFunction<DenseVector<Object>>> breeze;

  private Minimizer(
      int maxIterations,
      FirstOrderMinimizer<DenseVector<Object>, DiffFunction<DenseVector<Object>>> breeze) {
    this.maxIterations = maxIterations;
    this.breeze = breeze;
  }

  /** Creates L-BFGS, for a smooth loss. */
  public static Minimizer lbfgs(int maxIterations, double tolerance) {
    return new Minimizer(
        maxIterations, new LBFGS<>(maxIterations, CORRECTIONS, tolerance, BreezeVectors.space()));
  }

  /**
   * Creates OWL-QN, for a smooth loss and a penalty on the absolute value of each coefficient.
   *
   * @param penalties by coefficient
   */
  public static Minimizer owlqn(int maxIterations, double tolerance, double[] penalties) {
    return new Minimizer(
        maxIterations,
        new OWLQN<>(
            maxIterations,
            CORRECTIONS,
            new AbstractFunction1<Object, Object>() {
              @Override
              public Object apply(Object coefficient) {
                return penalties[(Integer) coefficient];
              }
            },
            tolerance,
            BreezeVectors.space()));
  }

  /**
   * Creates L-BFGS-B, for a smooth loss and bounds on each coefficient.
   *
   * @param lower the least value of each coefficient
   * @param upper the greatest value of each coefficient
   */
  public static Minimizer lbfgsb(
      int maxIterations, double tolerance, double[] lower, double[] upper) {
    return new Minimizer(
        maxIterations,
        new LBFGSB(
            BreezeVectors.wrap(lower),
            BreezeVectors.wrap(upper),
            maxIterations,
            CORRECTIONS,
            tolerance,
            LBFGSB.$lessinit$greater$default$6(),
            LBFGSB.$lessinit$greater$default$7()));
  }

  int maxIterations() {
    return maxIterations;
  }

  FirstOrderMinimizer<DenseVector<Object>, DiffFunction<DenseVector<Object>>> breeze() {
    return breeze;
  }
}
