package org.sparkcollectives.spark.iteration;

import java.io.Serializable;

/**
 * Computes the loss of a state, to be shown and recorded.
 *
 * @param <S> the type of the state
 */
@FunctionalInterface
public interface LossFunction<S> extends Serializable {

  /**
   * Returns the loss. Called in each iteration, on rank 0 alone, before the state is updated.
   *
   * @param state from which the contributions were computed: the one that the loss is of
   * @param sum of all ranks' contributions, only to be read
   * @param iteration from 1
   */
  double loss(S state, double[] sum, int iteration) throws Exception;
}
