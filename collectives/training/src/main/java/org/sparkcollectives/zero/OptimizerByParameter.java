package org.sparkcollectives.zero;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;
import org.sparkcollectives.Tensor;

/** Leaves each parameter to an optimizer of its own. */
final class OptimizerByParameter implements LocalOptimizer {

  private final IntFunction<LocalOptimizer> optimizers;

  /** Each parameter keeps the optimizer that it had first, which has its state. */
  private final Map<Integer, LocalOptimizer> chosen = new HashMap<>();

  OptimizerByParameter(IntFunction<LocalOptimizer> optimizers) {
    this.optimizers = optimizers;
  }

  private LocalOptimizer of(int parameter) {
    LocalOptimizer optimizer = chosen.computeIfAbsent(parameter, optimizers::apply);
    if (optimizer == null) {
      throw new IllegalArgumentException(
          "parameter " + parameter + " has no optimizer; give one for each parameter");
    }
    return optimizer;
  }

  @Override
  public void step(int parameter, Tensor value, Tensor gradient) {
    of(parameter).step(parameter, value, gradient);
  }

  @Override
  public Map<String, Tensor> state(int parameter) {
    return of(parameter).state(parameter);
  }

  @Override
  public void restore(int parameter, Map<String, Tensor> state) {
    of(parameter).restore(parameter, state);
  }
}
