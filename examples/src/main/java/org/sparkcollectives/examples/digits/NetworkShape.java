package org.sparkcollectives.examples.digits;

import java.io.Serializable;
import java.util.Random;

/**
 * The size of a {@link Network}.
 *
 * @param inputs the features of a sample
 * @param hidden the units of the hidden layer; 0 for softmax regression
 * @param classes how many classes there are
 */
record NetworkShape(int inputs, int hidden, int classes) implements Serializable {

  int parameterCount() {
    return hidden == 0
        ? layerSize(inputs, classes)
        : layerSize(inputs, hidden) + layerSize(hidden, classes);
  }

  /** Returns the index at which the parameters of the last layer begin. */
  int lastLayer() {
    return hidden == 0 ? 0 : layerSize(inputs, hidden);
  }

  private static int layerSize(int from, int to) {
    return Math.multiplyExact(from + 1, to);
  }

  /** Returns random parameters (He et al., 2015: the variance of a weight is 2 / inputs). */
  double[] randomParameters(long seed) {
    Random random = new Random(seed);
    double[] parameters = new double[parameterCount()];
    for (int i = 0; i < lastLayer(); i++) {
      parameters[i] = random.nextGaussian() * Math.sqrt(2.0 / inputs);
    }
    int last = hidden == 0 ? inputs : hidden;
    for (int i = lastLayer(); i < parameters.length; i++) {
      parameters[i] = random.nextGaussian() * Math.sqrt(2.0 / last) * 0.1;
    }
    return parameters;
  }
}
