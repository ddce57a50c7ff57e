package org.sparkcollectives.internal.algorithm;

import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.HostTensor;

/** The inputs of ranks: small integers, whose sums are exact in every type. */
final class Contributions {

  private Contributions() {}

  private static float element(int rank, int i) {
    return (rank * 31 + i % 97) % 13 - 5;
  }

  /** Returns the tensor of a rank, of {@code FLOAT32} or {@code BFLOAT16}. */
  static HostTensor of(DType dtype, int rank, int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = element(rank, i);
    }
    if (dtype == DType.FLOAT32) {
      return HostTensor.wrap(dtype, values);
    }
    short[] bits = new short[count];
    for (int i = 0; i < count; i++) {
      bits[i] = (short) (Float.floatToIntBits(values[i]) >> 16);
    }
    return HostTensor.wrap(dtype, bits);
  }

  /** Returns the elements of a tensor that wraps an array of its own. */
  static float[] values(HostTensor tensor) {
    if (tensor.dtype() == DType.FLOAT32) {
      return (float[]) tensor.array();
    }
    short[] bits = (short[]) tensor.array();
    float[] values = new float[bits.length];
    for (int i = 0; i < bits.length; i++) {
      values[i] = Float.intBitsToFloat(bits[i] << 16);
    }
    return values;
  }

  /** Returns the elements of tensors that each wrap an array of their own. */
  static float[] concatenated(List<HostTensor> parts) {
    float[] all = new float[(int) parts.stream().mapToLong(HostTensor::count).sum()];
    int at = 0;
    for (HostTensor part : parts) {
      float[] values = values(part);
      System.arraycopy(values, 0, all, at, values.length);
      at += values.length;
    }
    return all;
  }

  /** Returns the sum over {@code ranks} ranks of the elements from {@code from} on. */
  static float[] sum(int ranks, int from, int count) {
    float[] sum = new float[count];
    for (int i = 0; i < count; i++) {
      for (int rank = 0; rank < ranks; rank++) {
        sum[i] += element(rank, from + i);
      }
    }
    return sum;
  }
}
