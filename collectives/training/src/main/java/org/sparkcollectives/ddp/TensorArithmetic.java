package org.sparkcollectives.ddp;

import org.sparkcollectives.BFloat16;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Fills, multiplies and divides floating-point and complex tensors in place, in host memory. */
final class TensorArithmetic {

  /** How many elements are copied to the heap at a time. */
  private static final int TILE = 4096;

  private TensorArithmetic() {}

  /** Returns whether elements have 16 bits, so that sums of them are made in float32. */
  static boolean isHalf(DType type) {
    return type == DType.FLOAT16 || type == DType.BFLOAT16;
  }

  /** Returns a tensor of this type with no other element than {@code value}. */
  static Tensor scalar(DType type, double value) {
    Tensor scalar = Tensor.allocate(type, 1);
    switch (type) {
      case FLOAT16 -> scalar.copyFrom(new short[] {Float16.fromFloat((float) value)});
      case BFLOAT16 -> scalar.copyFrom(new short[] {BFloat16.fromFloat((float) value)});
      case FLOAT32 -> scalar.copyFrom(new float[] {(float) value});
      case FLOAT64 -> scalar.copyFrom(new double[] {value});
      case COMPLEX64 -> scalar.copyFrom(new float[] {(float) value, 0});
      case COMPLEX128 -> scalar.copyFrom(new double[] {value, 0});
      default -> throw refused(type);
    }
    return scalar;
  }

  /** Returns whether the first element is another than 0. */
  static boolean isNonZero(Tensor tensor) {
    Object array = array(tensor.dtype(), 1);
    HostTensor.of(tensor).toArray(0, 1, array, 0);
    if (array instanceof short[] bits) {
      return (bits[0] & 0x7fff) != 0;
    }
    return array instanceof float[] floats ? floats[0] != 0 : ((double[]) array)[0] != 0;
  }

  /** Sets all elements to 0. */
  static void zero(Tensor tensor) {
    HostTensor host = HostTensor.of(tensor);
    Object zeros = array(tensor.dtype(), (int) Math.min(TILE, tensor.count()));
    for (long at = 0; at < host.count(); at += TILE) {
      host.fromArray(at, (int) Math.min(TILE, host.count() - at), zeros, 0);
    }
  }

  /**
   * Multiplies all elements by {@code factor}, which is rounded to float32 for the types up to it.
   */
  static void multiply(Tensor tensor, double factor) {
    scale(tensor, factor, true);
  }

  /** Divides all elements by {@code divisor}. */
  static void divide(Tensor tensor, double divisor) {
    scale(tensor, divisor, false);
  }

  private static void scale(Tensor tensor, double operand, boolean multiply) {
    HostTensor host = HostTensor.of(tensor);
    Object tile = array(tensor.dtype(), (int) Math.min(TILE, tensor.count()));
    for (long at = 0; at < host.count(); at += TILE) {
      int count = (int) Math.min(TILE, host.count() - at);
      host.toArray(at, count, tile, 0);
      if (tile instanceof float[] floats) {
        scale(floats, operand, multiply);
      } else if (tile instanceof double[] doubles) {
        scale(doubles, operand, multiply);
      } else {
        scale((short[]) tile, tensor.dtype() == DType.BFLOAT16, operand, multiply);
      }
      host.fromArray(at, count, tile, 0);
    }
  }

  private static void scale(float[] values, double operand, boolean multiply) {
    float by = (float) operand;
    for (int i = 0; i < values.length; i++) {
      values[i] = multiply ? values[i] * by : values[i] / by;
    }
  }

  private static void scale(double[] values, double operand, boolean multiply) {
    for (int i = 0; i < values.length; i++) {
      values[i] = multiply ? values[i] * operand : values[i] / operand;
    }
  }

  private static void scale(short[] values, boolean brain, double operand, boolean multiply) {
    float by = (float) operand;
    for (int i = 0; i < values.length; i++) {
      float value = brain ? BFloat16.toFloat(values[i]) : Float16.toFloat(values[i]);
      float scaled = multiply ? value * by : value / by;
      values[i] = brain ? BFloat16.fromFloat(scaled) : Float16.fromFloat(scaled);
    }
  }

  private static Object array(DType type, int elements) {
    return switch (type) {
      case FLOAT16, BFLOAT16 -> new short[elements];
      case FLOAT32 -> new float[elements];
      case FLOAT64 -> new double[elements];
      case COMPLEX64 -> new float[2 * elements];
      case COMPLEX128 -> new double[2 * elements];
      default -> throw refused(type);
    };
  }

  private static IllegalArgumentException refused(DType type) {
    return new IllegalArgumentException(
        "Gradients are of a floating-point or complex type, not of " + type.label());
  }
}
