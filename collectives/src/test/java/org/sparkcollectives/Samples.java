package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.data.Offset;

/**
 * The contributions of ranks in tests, small enough for exact sums in every type, and their
 * reductions.
 */
final class Samples {

  private Samples() {}

  /** Numbers of elements: none, few, and more than a segment has. */
  static final int[] COUNTS = {0, 1, 2, 3, 17, 1000, 70_001};

  /** A reduction of a type that supports it. */
  record Reduction(DType dtype, ReduceOp op) {}

  /** Returns types, each with the reductions that it supports. */
  static List<Reduction> reductions() {
    List<Reduction> all = new ArrayList<>();
    for (DType dtype : List.of(DType.FLOAT32, DType.FLOAT64, DType.INT32, DType.INT64)) {
      for (ReduceOp op :
          List.of(ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX)) {
        if (op.supports(dtype)) {
          all.add(new Reduction(dtype, op));
        }
      }
    }
    return all;
  }

  /** Returns a rank's contribution. */
  static Tensor contribution(DType dtype, int rank, int count) {
    double[] values = new double[count];
    for (int i = 0; i < count; i++) {
      values[i] = element(rank, i);
    }
    return tensor(dtype, values);
  }

  /**
   * Returns the i-th element that a rank contributes, small enough for exact sums in every type.
   */
  private static int element(int rank, int i) {
    return rank + 1 + i % 5;
  }

  private static Tensor tensor(DType dtype, double... values) {
    return switch (dtype) {
      case FLOAT32 -> {
        float[] array = new float[values.length];
        for (int i = 0; i < array.length; i++) {
          array[i] = (float) values[i];
        }
        yield Tensor.of(array);
      }
      case FLOAT64 -> Tensor.of(values.clone());
      case INT32 -> Tensor.of(Arrays.stream(values).mapToInt(v -> (int) v).toArray());
      case INT64 -> Tensor.of(Arrays.stream(values).mapToLong(v -> (long) v).toArray());
      default -> throw new IllegalArgumentException(dtype.toString());
    };
  }

  /** Returns all elements of a tensor on the heap. */
  static double[] values(Tensor tensor) {
    Object array = tensor.array();
    if (array instanceof float[] floats) {
      double[] values = new double[floats.length];
      for (int i = 0; i < values.length; i++) {
        values[i] = floats[i];
      }
      return values;
    }
    if (array instanceof int[] ints) {
      return Arrays.stream(ints).asDoubleStream().toArray();
    }
    if (array instanceof long[] longs) {
      return Arrays.stream(longs).asDoubleStream().toArray();
    }
    return (double[]) array;
  }

  /** Returns the reduction of what {@code size} ranks contribute. */
  static double[] model(ReduceOp op, int size, int count) {
    double[] expected = new double[count];
    for (int i = 0; i < count; i++) {
      double value = element(0, i);
      for (int rank = 1; rank < size; rank++) {
        double other = element(rank, i);
        value =
            switch (op.kind()) {
              case SUM, AVG -> value + other;
              case PRODUCT -> value * other;
              case MIN -> Math.min(value, other);
              case MAX -> Math.max(value, other);
              default -> throw new IllegalArgumentException(op.toString());
            };
      }
      expected[i] = op.kind() == ReduceOp.Kind.AVG ? value / size : value;
    }
    return expected;
  }

  /** Returns bytes that differ by index and by {@code seed}. */
  static byte[] bytes(int length, int seed) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (i * 31 + (i >> 8) + seed);
    }
    return bytes;
  }

  /** Asserts that each element is as expected, but for the rounding of floats. */
  static void assertClose(Reduction reduction, Tensor actual, double[] expected) {
    double[] values = values(actual);
    assertThat(values).as("%s", reduction).hasSameSizeAs(expected);
    for (int i = 0; i < values.length; i++) {
      double offset = Math.abs(expected[i]) * 1e-6;
      // An assertion for each of millions of elements would take most of the time of the tests.
      if (!(Math.abs(values[i] - expected[i]) <= offset)) {
        assertThat(values[i])
            .as("%s, element %d", reduction, i)
            .isCloseTo(expected[i], Offset.offset(offset));
      }
    }
  }
}
