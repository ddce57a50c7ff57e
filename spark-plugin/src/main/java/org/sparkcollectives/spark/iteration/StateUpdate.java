package org.sparkcollectives.spark.iteration;

import java.io.Serializable;

/**
 * Computes the next state from the sum of all contributions, such as a step against the gradient.
 *
 * @param <S> the type of the state
 */
@FunctionalInterface
public interface StateUpdate<S> extends Serializable {

  /**
   * Returns the next state. Called once in each iteration, on rank 0, while the other ranks wait
   * for the result.
   *
   * @param state from which the contributions were computed
   * @param sum of all ranks' contributions, in the order of the ranks; a new array in each
   *     iteration, which may become the state
   * @param iteration from 1
   * @return not null; may be {@code state} itself, changed, if there is no stop condition or the
   *     state is a {@code double[]}
   */
  S next(S state, double[] sum, int iteration) throws Exception;
}
