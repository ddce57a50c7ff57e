package org.sparkcollectives.zero;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.ddp.Parameter;

/** A model of parameters of two types, with gradients that are exact in any order of their sums. */
final class SharedModel {

  private static final int[] COUNTS = {15, 3, 0, 5000, 2, 8};

  private final List<Parameter> parameters = new ArrayList<>();

  SharedModel() {
    Random random = new Random(1);
    for (int i = 0; i < COUNTS.length; i++) {
      Tensor value =
          i % 2 == 0 ? Tensor.of(new float[COUNTS[i]]) : Tensor.of(new double[COUNTS[i]]);
      fill(value, random);
      // Two of three parameters bring memory for their gradients.
      parameters.add(
          new Parameter("p" + i, value, i % 3 == 0 ? null : StateParts.zeros(value), false));
    }
    Tensor first = parameters.get(0).value();
    parameters.set(0, Parameter.of("p0", first.reshape(5, 3)));
  }

  List<Parameter> parameters() {
    return parameters;
  }

  /** Fills with multiples of 1/8, whose sums over a few ranks are exact. */
  static void fill(Tensor tensor, Random random) {
    if (tensor.array() instanceof float[] floats) {
      for (int i = 0; i < floats.length; i++) {
        floats[i] = (random.nextInt(65) - 32) / 8f;
      }
    } else {
      double[] doubles = (double[]) tensor.array();
      for (int i = 0; i < doubles.length; i++) {
        doubles[i] = (random.nextInt(65) - 32) / 8.0;
      }
    }
  }

  /** Returns the gradient of a parameter in a step of a rank. */
  Tensor gradient(int parameter, int step, int rank) {
    Tensor gradient = StateParts.zeros(parameters.get(parameter).value());
    fill(gradient, new Random(1000L * step + 100L * rank + parameter));
    return gradient;
  }

  /** Returns the sum of the gradients of the ranks, divided once. */
  Tensor mean(int parameter, int step, int divisor, int... ranks) {
    Tensor mean = StateParts.zeros(parameters.get(parameter).value());
    for (int rank : ranks) {
      Object each = gradient(parameter, step, rank).array();
      if (mean.array() instanceof float[] sum) {
        for (int i = 0; i < sum.length; i++) {
          sum[i] += ((float[]) each)[i];
        }
      } else {
        double[] sum = (double[]) mean.array();
        for (int i = 0; i < sum.length; i++) {
          sum[i] += ((double[]) each)[i];
        }
      }
    }
    if (mean.array() instanceof float[] sum) {
      for (int i = 0; i < sum.length; i++) {
        sum[i] /= divisor;
      }
    } else {
      double[] sum = (double[]) mean.array();
      for (int i = 0; i < sum.length; i++) {
        sum[i] /= divisor;
      }
    }
    return mean;
  }

  /** Returns the values after some steps of one optimizer with the gradients of some ranks. */
  static List<String> trained(LocalOptimizer optimizer, int steps, int size) {
    SharedModel model = new SharedModel();
    for (int step = 0; step < steps; step++) {
      model.step(optimizer, step, size, IntStream.range(0, size).toArray());
    }
    return model.bits();
  }

  /** Makes a step of all parameters on this rank alone. */
  void step(LocalOptimizer optimizer, int step, int divisor, int... ranks) {
    for (int i = 0; i < parameters.size(); i++) {
      optimizer.step(i, parameters.get(i).value(), mean(i, step, divisor, ranks));
    }
  }

  /** Returns all values as bits, to compare them. */
  List<String> bits() {
    return parameters.stream()
        .map(
            each ->
                each.value().array() instanceof float[] floats
                    ? Arrays.toString(floats)
                    : Arrays.toString((double[]) each.value().array()))
        .toList();
  }
}
