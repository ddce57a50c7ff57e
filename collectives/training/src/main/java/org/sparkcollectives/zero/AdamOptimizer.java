package org.sparkcollectives.zero;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;

/**
 * Updates parameters by Adam, as {@code torch.optim.Adam} without its variants. For float32 and
 * float64; computes in double precision and rounds once. The state of a parameter is the mean of
 * its gradients, {@code mean}, that of their squares, {@code square}, and the number of its steps,
 * {@code step}.
 *
 * <p>Not for use by several threads at once. The method is that of Kingma and Ba, "Adam: A Method
 * for Stochastic Optimization", 2015.
 */
public final class AdamOptimizer implements LocalOptimizer {

  private static final String MEAN = "mean";
  private static final String SQUARE = "square";
  private static final String STEP = "step";

  private final Map<Integer, Moments> moments = new HashMap<>();
  private AdamOptions options;

  /** The state of a parameter. */
  private record Moments(Tensor mean, Tensor square, Tensor step) {

    /** Returns the number of the next step, from 1. */
    long next() {
      long[] steps = new long[1];
      step.copyTo(steps);
      return steps[0] + 1;
    }
  }

  /** Creates an optimizer without state. */
  public AdamOptimizer(AdamOptions options) {
    this.options = options;
  }

  /** Changes the factors from the next step on, such as the learning rate. The state stays. */
  public void setOptions(AdamOptions changed) {
    options = changed;
  }

  @Override
  public void step(int parameter, Tensor value, Tensor gradient) {
    Moments state = moments.get(parameter);
    if (state == null) {
      state =
          new Moments(
              StateParts.zeros(value), StateParts.zeros(value), Tensor.allocate(DType.INT64, 1));
    }
    AdamOptions factors = options;
    long step = state.next();
    double rate = factors.learningRate() / (1 - Math.pow(factors.beta1(), (double) step));
    double root = Math.sqrt(1 - Math.pow(factors.beta2(), (double) step));
    Tiles.update(
        parameter,
        gradient,
        (slope, tensors, count) -> update(factors, rate, root, slope, tensors, count),
        value,
        state.mean(),
        state.square());
    state.step().copyFrom(new long[] {step});
    moments.put(parameter, state);
  }

  private static void update(
      AdamOptions factors,
      double rate,
      double root,
      double[] slope,
      double[][] tensors,
      int count) {
    double[] values = tensors[0];
    double[] mean = tensors[1];
    double[] square = tensors[2];
    for (int i = 0; i < count; i++) {
      double decayed = slope[i] + factors.weightDecay() * values[i];
      mean[i] = factors.beta1() * mean[i] + (1 - factors.beta1()) * decayed;
      square[i] = factors.beta2() * square[i] + (1 - factors.beta2()) * decayed * decayed;
      values[i] -= rate * mean[i] / (Math.sqrt(square[i]) / root + factors.epsilon());
    }
  }

  @Override
  public Map<String, Tensor> state(int parameter) {
    Moments state = moments.get(parameter);
    if (state == null) {
      return Map.of();
    }
    Map<String, Tensor> parts = new LinkedHashMap<>();
    parts.put(MEAN, state.mean());
    parts.put(SQUARE, state.square());
    parts.put(STEP, state.step());
    return parts;
  }

  @Override
  public void restore(int parameter, Map<String, Tensor> state) {
    if (state.isEmpty()) {
      moments.remove(parameter);
      return;
    }
    StateParts.require(parameter, state, Set.of(MEAN, SQUARE, STEP));
    Tensor step = state.get(STEP);
    if (step.dtype() != DType.INT64 || step.count() != 1) {
      throw new IllegalArgumentException(
          "The step of parameter " + parameter + " must be one int64, and is " + step);
    }
    moments.put(
        parameter,
        new Moments(
            StateParts.copy(state.get(MEAN)),
            StateParts.copy(state.get(SQUARE)),
            StateParts.copy(step)));
  }
}
