package org.sparkcollectives.zero;

import java.util.Map;
import java.util.Objects;
import java.util.function.IntFunction;
import org.sparkcollectives.Tensor;

/**
 * Updates the parameters of a model one by one on this rank, and keeps a state for each. Calls no
 * other rank.
 *
 * <p>What it computes for a parameter depends on that parameter's values, gradients and state only,
 * so that any rank can do it. Used by one thread at a time.
 */
public interface LocalOptimizer {

  /**
   * Returns an optimizer that leaves each parameter to one of several, as torch's parameter groups
   * do: with another learning rate for some, say, or without decay of the biases.
   *
   * @param optimizers returns the optimizer of a parameter, by its position in the model; never
   *     null. Asked once for each parameter; several may have the same
   */
  static LocalOptimizer byParameter(IntFunction<LocalOptimizer> optimizers) {
    Objects.requireNonNull(optimizers, "optimizers");
    return new OptimizerByParameter(optimizers);
  }

  /**
   * Updates the values of a parameter in place.
   *
   * @param parameter its position in the model
   * @param gradient as many elements as {@code value}, of the same type; only read
   */
  void step(int parameter, Tensor value, Tensor gradient);

  /**
   * Returns the state of a parameter by the names of its parts, such as the momentum; empty if
   * there is none yet. The tensors are the optimizer's own, and are only read.
   */
  Map<String, Tensor> state(int parameter);

  /**
   * Replaces the state of a parameter by a copy of what {@link #state} has returned, perhaps on
   * another rank.
   *
   * @throws IllegalArgumentException if that is not a state of this kind of optimizer
   */
  void restore(int parameter, Map<String, Tensor> state);
}
