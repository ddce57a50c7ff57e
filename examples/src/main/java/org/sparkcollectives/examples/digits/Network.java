package org.sparkcollectives.examples.digits;

import java.util.Arrays;
import java.util.List;

/**
 * A classifier: softmax regression, or a network with one hidden layer of rectified linear units.
 *
 * <p>All parameters lie in one array, so one all-reduce carries the whole gradient. They are stored
 * layer by layer: for each output its weights, then its bias.
 */
final class Network {

  private final NetworkShape shape;
  private final double[] parameters;
  private final double[] hiddenValues;
  private final double[] outputs;
  private final double[] hiddenErrors;

  /** Creates a network with the parameters of {@code shape}, which training changes in place. */
  Network(NetworkShape shape, double[] parameters) {
    if (parameters.length != shape.parameterCount()) {
      throw new IllegalArgumentException(
          parameters.length + " parameters instead of " + shape.parameterCount());
    }
    this.shape = shape;
    this.parameters = parameters;
    this.hiddenValues = new double[shape.hidden()];
    this.outputs = new double[shape.classes()];
    this.hiddenErrors = new double[shape.hidden()];
  }

  double[] parameters() {
    return parameters;
  }

  /**
   * Adds the gradient of the cross-entropy of one sample to {@code gradient}.
   *
   * @return the cross-entropy
   */
  double addGradient(Sample sample, double[] gradient) {
    forward(sample);
    double loss = -Math.log(Math.max(1e-12, outputs[sample.label()]));
    outputs[sample.label()] -= 1; // Now the derivative by the inputs of the softmax.
    if (shape.hidden() == 0) {
      backward(gradient, 0, outputs, sample.features(), null);
      return loss;
    }
    Arrays.fill(hiddenErrors, 0);
    backward(gradient, shape.lastLayer(), outputs, hiddenValues, hiddenErrors);
    for (int i = 0; i < hiddenErrors.length; i++) {
      if (hiddenValues[i] <= 0) {
        hiddenErrors[i] = 0;
      }
    }
    backward(gradient, 0, hiddenErrors, sample.features(), null);
    return loss;
  }

  private void forward(Sample sample) {
    if (shape.hidden() == 0) {
      layer(0, sample.features(), outputs);
    } else {
      layer(0, sample.features(), hiddenValues);
      for (int i = 0; i < hiddenValues.length; i++) {
        hiddenValues[i] = Math.max(0, hiddenValues[i]);
      }
      layer(shape.lastLayer(), hiddenValues, outputs);
    }
    softmax(outputs);
  }

  private void layer(int offset, double[] input, double[] output) {
    for (int o = 0; o < output.length; o++) {
      int row = offset + o * (input.length + 1);
      double sum = parameters[row + input.length];
      for (int i = 0; i < input.length; i++) {
        sum += parameters[row + i] * input[i];
      }
      output[o] = sum;
    }
  }

  private void backward(
      double[] gradient, int offset, double[] errors, double[] input, double[] inputErrors) {
    for (int o = 0; o < errors.length; o++) {
      int row = offset + o * (input.length + 1);
      for (int i = 0; i < input.length; i++) {
        gradient[row + i] += errors[o] * input[i];
        if (inputErrors != null) {
          inputErrors[i] += errors[o] * parameters[row + i];
        }
      }
      gradient[row + input.length] += errors[o];
    }
  }

  private static void softmax(double[] values) {
    double largest = values[0];
    for (double value : values) {
      largest = Math.max(largest, value);
    }
    double sum = 0;
    for (int i = 0; i < values.length; i++) {
      values[i] = Math.exp(values[i] - largest);
      sum += values[i];
    }
    for (int i = 0; i < values.length; i++) {
      values[i] /= sum;
    }
  }

  /** Returns the share of samples whose class is recognised. */
  double accuracy(List<Sample> samples) {
    int right = 0;
    for (Sample sample : samples) {
      forward(sample);
      int best = 0;
      for (int i = 1; i < outputs.length; i++) {
        best = outputs[i] > outputs[best] ? i : best;
      }
      right += best == sample.label() ? 1 : 0;
    }
    return samples.isEmpty() ? 0 : (double) right / samples.size();
  }
}
