package org.sparkcollectives.spark.iteration;

import java.io.Serializable;

/**
 * Decides whether to stop before the largest number of iterations is reached.
 *
 * @param <S> the type of the state
 */
@FunctionalInterface
public interface StopCondition<S> extends Serializable {

  /**
   * Returns whether {@code next} is the final state. Called after each iteration, on rank 0 alone.
   *
   * @param previous the state before the iteration
   * @param next the state after it
   * @param iteration from 1
   */
  boolean isMet(S previous, S next, int iteration) throws Exception;
}
