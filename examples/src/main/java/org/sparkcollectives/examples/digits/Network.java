package org.sparkcollectives.examples.digits;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A classifier of digits: softmax regression, or a network with one hidden layer of rectified
 * linear units.
 *
 * <p>All parameters lie in one array, so that one all-reduce carries the whole gradient. Layer by
 * layer: for each output its weights, then its bias.
 */
final class Network {

  private final int hidden;
  private final double[] parameters;
  private final double[] hiddenValues;
  private final double[] outputs = new double[Digit.CLASSES];
  private final double[] hiddenErrors;

  /** With {@code hidden} units in the hidden layer; 0 for softmax regression. */
  Network(int hidden, double[] parameters) {
    if (parameters.length != parameterCount(hidden)) {
      throw new IllegalArgumentException(
          parameters.length + " parameters instead of " + parameterCount(hidden));
    }
    this.hidden = hidden;
    this.parameters = parameters;
    this.hiddenValues = new double[hidden];
    this.hiddenErrors = new double[hidden];
  }

  static int parameterCount(int hidden) {
    return hidden == 0
        ? layerSize(Digit.PIXELS, Digit.CLASSES)
        : layerSize(Digit.PIXELS, hidden) + layerSize(hidden, Digit.CLASSES);
  }

  private static int layerSize(int inputs, int outputs) {
    return (inputs + 1) * outputs;
  }

  /** Random parameters (He et al., 2015: the variance of a weight is 2 / inputs). */
  static double[] randomParameters(int hidden, long seed) {
    Random random = new Random(seed);
    double[] parameters = new double[parameterCount(hidden)];
    int first = hidden == 0 ? 0 : layerSize(Digit.PIXELS, hidden);
    for (int i = 0; i < first; i++) {
      parameters[i] = random.nextGaussian() * Math.sqrt(2.0 / Digit.PIXELS);
    }
    int inputs = hidden == 0 ? Digit.PIXELS : hidden;
    for (int i = first; i < parameters.length; i++) {
      parameters[i] = random.nextGaussian() * Math.sqrt(2.0 / inputs) * 0.1;
    }
    return parameters;
  }

  double[] parameters() {
    return parameters;
  }

  /**
   * Adds the gradient of the cross-entropy of one image to {@code gradient}.
   *
   * @return the cross-entropy
   */
  double addGradient(Digit digit, double[] gradient) {
    forward(digit);
    double loss = -Math.log(Math.max(1e-12, outputs[digit.label()]));
    outputs[digit.label()] -= 1; // Now the derivative by the outputs before the softmax.
    if (hidden == 0) {
      backward(gradient, 0, Digit.PIXELS, outputs, digit::pixel, null);
      return loss;
    }
    int second = layerSize(Digit.PIXELS, hidden);
    Arrays.fill(hiddenErrors, 0);
    backward(gradient, second, hidden, outputs, i -> hiddenValues[i], hiddenErrors);
    for (int i = 0; i < hidden; i++) {
      if (hiddenValues[i] <= 0) {
        hiddenErrors[i] = 0;
      }
    }
    backward(gradient, 0, Digit.PIXELS, hiddenErrors, digit::pixel, null);
    return loss;
  }

  private interface Values {
    double at(int i);
  }

  private void forward(Digit digit) {
    if (hidden == 0) {
      layer(0, Digit.PIXELS, digit::pixel, outputs);
    } else {
      layer(0, Digit.PIXELS, digit::pixel, hiddenValues);
      for (int i = 0; i < hidden; i++) {
        hiddenValues[i] = Math.max(0, hiddenValues[i]);
      }
      layer(layerSize(Digit.PIXELS, hidden), hidden, i -> hiddenValues[i], outputs);
    }
    softmax(outputs);
  }

  private void layer(int offset, int inputs, Values input, double[] output) {
    for (int o = 0; o < output.length; o++) {
      int row = offset + o * (inputs + 1);
      double sum = parameters[row + inputs];
      for (int i = 0; i < inputs; i++) {
        sum += parameters[row + i] * input.at(i);
      }
      output[o] = sum;
    }
  }

  private void backward(
      double[] gradient,
      int offset,
      int inputs,
      double[] errors,
      Values input,
      double[] inputErrors) {
    for (int o = 0; o < errors.length; o++) {
      int row = offset + o * (inputs + 1);
      for (int i = 0; i < inputs; i++) {
        gradient[row + i] += errors[o] * input.at(i);
        if (inputErrors != null) {
          inputErrors[i] += errors[o] * parameters[row + i];
        }
      }
      gradient[row + inputs] += errors[o];
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

  /** The share of images whose digit is recognised. */
  double accuracy(List<Digit> digits) {
    int right = 0;
    for (Digit digit : digits) {
      forward(digit);
      int best = 0;
      for (int i = 1; i < outputs.length; i++) {
        best = outputs[i] > outputs[best] ? i : best;
      }
      right += best == digit.label() ? 1 : 0;
    }
    return digits.isEmpty() ? 0 : (double) right / digits.size();
  }
}
