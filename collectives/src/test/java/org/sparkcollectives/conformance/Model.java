package org.sparkcollectives.conformance;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.DType;

/**
 * The plain definition of the reductions, one element after the other.
 *
 * <p>Integers wrap, and booleans follow logic: these results are exact. Floating-point results are
 * bounded by {@link Bounds}.
 */
final class Model {

  private Model() {}

  /** Returns the reduction of the ranks' contributions of one part. */
  static Expected reduced(DType dtype, Reduction reduction, int world, int part, int count) {
    List<ByteBuffer> terms = new ArrayList<>();
    for (int rank = 0; rank < world; rank++) {
      ByteBuffer given = Contributions.of(dtype, rank, part, count);
      terms.add(
          reduction == Reduction.PREMUL_SUM
              ? multiplied(dtype, given, reduction.factor(rank))
              : given);
    }
    return reduced(dtype, reduction, terms);
  }

  /** Returns the reduction of terms that have been multiplied. */
  static Expected reduced(DType dtype, Reduction reduction, List<ByteBuffer> terms) {
    if (dtype == DType.BOOL) {
      return Expected.exactly(dtype, truths(reduction, terms));
    }
    if (dtype.isInteger()) {
      return Expected.exactly(dtype, integers(dtype, reduction, terms));
    }
    return Bounds.of(dtype, reduction, terms);
  }

  /** Returns the products as they are sent: rounded to the elements' type. */
  private static ByteBuffer multiplied(DType dtype, ByteBuffer given, double factor) {
    ByteBuffer products = bytes(given.remaining());
    boolean wide = dtype == DType.FLOAT64 || dtype == DType.COMPLEX128;
    int components = given.remaining() / dtype.bytes() * (dtype.isComplex() ? 2 : 1);
    for (int i = 0; i < components; i++) {
      double value = Contributions.get(dtype, given, i);
      Contributions.put(dtype, products, i, wide ? value * factor : (float) value * (float) factor);
    }
    return products;
  }

  private static ByteBuffer truths(Reduction reduction, List<ByteBuffer> terms) {
    ByteBuffer result = bytes(terms.get(0).remaining());
    int[] trues = new int[result.capacity()];
    for (ByteBuffer term : terms) {
      for (int i = 0; i < trues.length; i++) {
        trues[i] += term.get(i) == 0 ? 0 : 1;
      }
    }
    for (int i = 0; i < trues.length; i++) {
      result.put(i, (byte) (truth(reduction, trues[i], terms.size()) ? 1 : 0));
    }
    return result;
  }

  private static boolean truth(Reduction reduction, int trues, int terms) {
    return switch (reduction) {
      case SUM, MAX, BOR -> trues > 0;
      case PRODUCT, MIN, BAND -> trues == terms;
      case BXOR -> trues % 2 == 1;
      case AVG, PREMUL_SUM -> throw new IllegalArgumentException(reduction + " of truth values");
    };
  }

  private static ByteBuffer integers(DType dtype, Reduction reduction, List<ByteBuffer> terms) {
    long[] values = integers(dtype, terms.get(0));
    for (ByteBuffer term : terms.subList(1, terms.size())) {
      long[] next = integers(dtype, term);
      for (int i = 0; i < values.length; i++) {
        values[i] = combine(reduction, values[i], next[i]);
      }
    }
    ByteBuffer result = bytes(values.length * dtype.bytes());
    for (long value : values) {
      switch (dtype.bytes()) {
        case Byte.BYTES -> result.put((byte) value);
        case Short.BYTES -> result.putShort((short) value);
        case Integer.BYTES -> result.putInt((int) value);
        default -> result.putLong(value);
      }
    }
    return result.flip();
  }

  private static long combine(Reduction reduction, long a, long b) {
    return switch (reduction) {
      case SUM -> a + b;
      case PRODUCT -> a * b;
      case MIN -> Math.min(a, b);
      case MAX -> Math.max(a, b);
      case BAND -> a & b;
      case BOR -> a | b;
      case BXOR -> a ^ b;
      case AVG, PREMUL_SUM -> throw new IllegalArgumentException(reduction + " of integers");
    };
  }

  private static long[] integers(DType dtype, ByteBuffer elements) {
    long[] values = new long[elements.remaining() / dtype.bytes()];
    for (int i = 0; i < values.length; i++) {
      values[i] =
          switch (dtype) {
            case UINT8 -> Byte.toUnsignedLong(elements.get(i));
            case INT8 -> elements.get(i);
            case INT16 -> elements.getShort(2 * i);
            case INT32 -> elements.getInt(4 * i);
            case INT64 -> elements.getLong(8 * i);
            default -> throw new IllegalArgumentException(dtype + " is no integer");
          };
    }
    return values;
  }

  private static ByteBuffer bytes(int capacity) {
    return ByteBuffer.allocate(capacity).order(ByteOrder.nativeOrder());
  }
}
