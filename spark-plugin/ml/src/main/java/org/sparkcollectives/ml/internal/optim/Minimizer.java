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

  /**
   * How many vectors of coefficients each optimizer holds at the same time at most, as measured
   * with heaps of a given size: L-BFGS ran with 32 of them and not with 28, OWL-QN with 36 and not
   * with 32, L-BFGS-B with 120 and not with 100. Eight are added for the sums of the ranks.
   */
  private static final int VECTORS_OF_LBFGS = 40;

  private static final int VECTORS_OF_OWLQN = 44;
  private static final int VECTORS_OF_LBFGSB = 128;

  private final int maxIterations;
  private final int vectors;
  private final FirstOrderMinimizer<DenseVector<Object>, DiffFunction<DenseVector<Object>>> breeze;

  private Minimizer(
      int maxIterations,
      int vectors,
      FirstOrderMinimizer<DenseVector<Object>, DiffFunction<DenseVector<Object>>> breeze) {
    this.maxIterations = maxIterations;
    this.vectors = vectors;
    this.breeze = breeze;
  }

  /** Creates L-BFGS, for a smooth loss. */
  public static Minimizer lbfgs(int maxIterations, double tolerance) {
    return new Minimizer(
        maxIterations,
        VECTORS_OF_LBFGS,
        new LBFGS<>(maxIterations, CORRECTIONS, tolerance, BreezeVectors.space()));
  }

  /**
   * Creates OWL-QN, for a smooth loss and a penalty on the absolute value of each coefficient.
   *
   * @param penalties by coefficient
   */
  public static Minimizer owlqn(int maxIterations, double tolerance, double[] penalties) {
    return new Minimizer(
        maxIterations,
        VECTORS_OF_OWLQN,
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
        VECTORS_OF_LBFGSB,
        new LBFGSB(
            BreezeVectors.wrap(lower),
            BreezeVectors.wrap(upper),
            maxIterations,
            CORRECTIONS,
            tolerance,
            LBFGSB.$lessinit$greater$default$6(),
            LBFGSB.$lessinit$greater$default$7()));
  }

  /** Returns how many vectors of all coefficients rank 0 holds while it minimises, at most. */
  public int vectors() {
    return vectors;
  }

  int maxIterations() {
    return maxIterations;
  }

  FirstOrderMinimizer<DenseVector<Object>, DiffFunction<DenseVector<Object>>> breeze() {
    return breeze;
  }
}
