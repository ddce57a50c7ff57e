package org.sparkcollectives.zero;

import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Computes new elements of tensors from a gradient, some thousand at a time. The computation is in
 * double precision, whatever the type of the tensors, and is rounded once.
 */
final class Tiles {

  private static final int ELEMENTS = 4096;

  /** Computes new elements from old ones. */
  interface Update {

    /**
     * Overwrites {@code count} elements of each of the tensors.
     *
     * @param gradient the gradients
     * @param tensors the elements of the tensors, in the order in which they were given
     */
    void run(double[] gradient, double[][] tensors, int count);
  }

  private Tiles() {}

  /**
   * Runs an update over all elements.
   *
   * @throws IllegalArgumentException if a tensor is neither float32 nor float64, or has another
   *     count than the gradient
   */
  static void update(int parameter, Tensor gradient, Update update, Tensor... tensors) {
    require(parameter, gradient, gradient);
    for (Tensor each : tensors) {
      require(parameter, each, gradient);
    }
    double[] gradients = new double[ELEMENTS];
    double[][] elements = new double[tensors.length][ELEMENTS];
    for (long at = 0; at < gradient.count(); at += ELEMENTS) {
      int count = (int) Math.min(ELEMENTS, gradient.count() - at);
      read(gradient, at, count, gradients);
      for (int i = 0; i < tensors.length; i++) {
        read(tensors[i], at, count, elements[i]);
      }
      update.run(gradients, elements, count);
      for (int i = 0; i < tensors.length; i++) {
        write(tensors[i], at, count, elements[i]);
      }
    }
  }

  /** Divides all elements of a float32 or float64 tensor. */
  static void divide(Tensor tensor, double divisor) {
    double[] elements = new double[ELEMENTS];
    for (long at = 0; at < tensor.count(); at += ELEMENTS) {
      int count = (int) Math.min(ELEMENTS, tensor.count() - at);
      read(tensor, at, count, elements);
      for (int i = 0; i < count; i++) {
        elements[i] /= divisor;
      }
      write(tensor, at, count, elements);
    }
  }

  private static void require(int parameter, Tensor tensor, Tensor gradient) {
    if (tensor.dtype() != DType.FLOAT32 && tensor.dtype() != DType.FLOAT64) {
      throw new IllegalArgumentException(
          "A tensor of parameter "
              + parameter
              + " is "
              + tensor
              + "; this optimizer takes float32 and float64");
    }
    if (tensor.count() != gradient.count()) {
      throw new IllegalArgumentException(
          "The values, gradients and state of parameter "
              + parameter
              + " must have equal counts, and are "
              + tensor
              + " and "
              + gradient);
    }
  }

  private static void read(Tensor tensor, long at, int count, double[] elements) {
    HostTensor host = HostTensor.of(tensor);
    if (tensor.dtype() == DType.FLOAT64) {
      host.toArray(at, count, elements, 0);
      return;
    }
    float[] floats = new float[count];
    host.toArray(at, count, floats, 0);
    for (int i = 0; i < count; i++) {
      elements[i] = floats[i];
    }
  }

  private static void write(Tensor tensor, long at, int count, double[] elements) {
    HostTensor host = HostTensor.of(tensor);
    if (tensor.dtype() == DType.FLOAT64) {
      host.fromArray(at, count, elements, 0);
      return;
    }
    float[] floats = new float[count];
    for (int i = 0; i < count; i++) {
      floats[i] = (float) elements[i];
    }
    host.fromArray(at, count, floats, 0);
  }
}
