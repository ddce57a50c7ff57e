package org.sparkcollectives.spark.iteration;

import java.io.Serializable;

/**
 * Computes the numbers that a rank contributes to an iteration, such as the gradient of its rows.
 *
 * @param <S> the type of the state
 * @param <D> the type of the rank's data
 */
@FunctionalInterface
public interface Contribution<S, D> extends Serializable {

  /**
   * Returns this rank's numbers, which are added up over all ranks, element by element. Called on
   * each rank that has rows, at the same time; a rank without rows contributes zeros.
   *
   * @param state of all ranks, only to be read, and valid until this call returns
   * @param data this rank's own; may be changed, but changes are lost when the stage is retried
   * @param iteration from 1
   * @return as many numbers on all ranks and in all iterations; not changed, and not used after the
   *     next call
   */
  double[] compute(S state, D data, int iteration) throws Exception;
}
