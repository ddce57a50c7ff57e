package org.sparkcollectives.zero;

import java.util.Map;
import org.sparkcollectives.Tensor;

/** Throws in the step of one parameter, and does nothing in those of others. */
record FailingOptimizer(int failing) implements LocalOptimizer {

  @Override
  public void step(int parameter, Tensor value, Tensor gradient) {
    if (parameter == failing) {
      throw new IllegalStateException("no step for parameter " + parameter);
    }
  }

  @Override
  public Map<String, Tensor> state(int parameter) {
    return Map.of();
  }

  @Override
  public void restore(int parameter, Map<String, Tensor> state) {}
}
