package org.sparkcollectives.examples.digits;

import java.util.Arrays;
import java.util.List;

/**
 * The sum of the gradients of some samples, followed by their summed loss and their number. It can
 * be added up over all ranks, however many samples each has.
 */
final class Gradient {

  private final double[] values;

  Gradient(int parameters) {
    this.values = new double[parameters + 2];
  }

  /** Returns the array to be reduced. */
  double[] array() {
    return values;
  }

  /** Sets this to the sum over {@code batch}; to zero if that is empty. */
  void compute(Network network, List<Sample> batch) {
    Arrays.fill(values, 0);
    int parameters = values.length - 2;
    for (Sample sample : batch) {
      values[parameters] += network.addGradient(sample, values);
    }
    values[parameters + 1] = batch.size();
  }

  double loss() {
    return values[values.length - 2];
  }

  double samples() {
    return values[values.length - 1];
  }

  /** Moves the parameters down the mean gradient. */
  void apply(double[] parameters, double[] velocity, TrainingOptions options) {
    for (int i = 0; i < parameters.length; i++) {
      velocity[i] =
          options.momentum() * velocity[i] - options.learningRate() * values[i] / samples();
      parameters[i] += velocity[i];
    }
  }
}
