package org.sparkcollectives.ddp;

import org.sparkcollectives.Tensor;

/** Updates one parameter with its reduced gradient, as an optimizer's step does for all of them. */
@FunctionalInterface
public interface ParameterStep {

  /**
   * Updates a parameter. Called on the reducer's thread, for one parameter after the other; it must
   * not run collectives. An exception fails the step on all ranks, and ends the reducer's group.
   *
   * @param parameter its position in the reducer's list
   * @param value its values, to be changed in place
   * @param gradient its reduced gradient, a view that is valid during the call
   */
  void step(int parameter, Tensor value, Tensor gradient);
}
