package org.sparkcollectives.zero;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.sparkcollectives.Tensor;

/**
 * Updates parameters by stochastic gradient descent, with momentum if wanted, as {@code
 * torch.optim.SGD}. For float32 and float64; computes in double precision and rounds once. The
 * state of a parameter is its {@code momentum}, if there is one.
 *
 * <p>Not for use by several threads at once.
 */
public final class SgdOptimizer implements LocalOptimizer {

  private static final String MOMENTUM = "momentum";

  private final Map<Integer, Tensor> momenta = new HashMap<>();
  private SgdOptions options;

  /** Creates an optimizer without state. */
  public SgdOptimizer(SgdOptions options) {
    this.options = options;
  }

  /** Changes the factors from the next step on, such as the learning rate. The state stays. */
  public void setOptions(SgdOptions changed) {
    options = changed;
  }

  @Override
  public void step(int parameter, Tensor value, Tensor gradient) {
    SgdOptions factors = options;
    if (factors.momentum() == 0) {
      Tiles.update(
          parameter, gradient, (slope, tensors, n) -> plain(factors, slope, tensors[0], n), value);
      return;
    }
    Tensor momentum = momenta.get(parameter);
    boolean first = momentum == null;
    Tensor kept = first ? StateParts.zeros(value) : momentum;
    Tiles.update(
        parameter,
        gradient,
        (slope, tensors, n) -> accelerated(factors, first, slope, tensors, n),
        value,
        kept);
    momenta.put(parameter, kept);
  }

  private static void plain(SgdOptions factors, double[] slope, double[] values, int count) {
    for (int i = 0; i < count; i++) {
      values[i] -= factors.learningRate() * (slope[i] + factors.weightDecay() * values[i]);
    }
  }

  private static void accelerated(
      SgdOptions factors, boolean first, double[] slope, double[][] tensors, int count) {
    double[] values = tensors[0];
    double[] momentum = tensors[1];
    for (int i = 0; i < count; i++) {
      double decayed = slope[i] + factors.weightDecay() * values[i];
      momentum[i] =
          first ? decayed : factors.momentum() * momentum[i] + (1 - factors.dampening()) * decayed;
      values[i] -=
          factors.learningRate()
              * (factors.nesterov() ? decayed + factors.momentum() * momentum[i] : momentum[i]);
    }
  }

  @Override
  public Map<String, Tensor> state(int parameter) {
    Tensor momentum = momenta.get(parameter);
    return momentum == null ? Map.of() : Map.of(MOMENTUM, momentum);
  }

  @Override
  public void restore(int parameter, Map<String, Tensor> state) {
    if (state.isEmpty()) {
      momenta.remove(parameter);
      return;
    }
    StateParts.require(parameter, state, Set.of(MOMENTUM));
    momenta.put(parameter, StateParts.copy(state.get(MOMENTUM)));
  }
}
