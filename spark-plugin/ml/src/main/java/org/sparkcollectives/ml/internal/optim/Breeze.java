package org.sparkcollectives.ml.internal.optim;

import breeze.linalg.DenseVector;
import breeze.optimize.DiffFunction;
import breeze.optimize.FirstOrderMinimizer;
import scala.collection.Iterator;

/**
 * Calls of Breeze whose types Java cannot express: those of an optimizer's history and convergence
 * depend on the optimizer object in Scala.
 */
@SuppressWarnings({"unchecked", "rawtypes"})
final class Breeze {

  private Breeze() {}

  /** Returns {@code state} and all states after it. */
  static Iterator<FirstOrderMinimizer.State<DenseVector<Object>, ?, ?>> iterations(
      FirstOrderMinimizer<DenseVector<Object>, DiffFunction<DenseVector<Object>>> optimizer,
      DiffFunction<DenseVector<Object>> function,
      FirstOrderMinimizer.State<DenseVector<Object>, ?, ?> state) {
    return optimizer.infiniteIterations(function, (FirstOrderMinimizer.State) state);
  }

  /** Returns whether {@code state} is the last one. */
  static boolean hasConverged(
      FirstOrderMinimizer<DenseVector<Object>, DiffFunction<DenseVector<Object>>> optimizer,
      FirstOrderMinimizer.State<DenseVector<Object>, ?, ?> state) {
    return optimizer.convergenceCheck().apply(state, state.convergenceInfo()).isDefined();
  }
}
