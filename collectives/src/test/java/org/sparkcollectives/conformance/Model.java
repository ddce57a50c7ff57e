package org.sparkcollectives.conformance;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.DType;

/**
 * The plain definition of the reductions, one element after the other.
 *
 * <p>Integers wrap, truth values follow logic, minima and maxima are one of their terms: these
 * results are exact. A sum or product of floating-point numbers depends on the order, about which
 * nothing is promised; but in whichever order n numbers are added, it is off by at most n-1
 * roundings of the sum of their magnitudes. That gives the bounds here. They are computed in
 * float64, in which sums of float32 and of halves are exact enough; for float64 itself the model's
 * own roundings count as well.
 *
 * <p>Halves are added up in float32 and rounded once, so their bounds are those of float32, rounded
 * once. Were they rounded at every step, sums would miss them.
 */
final class Model {

  /** Half the distance from 1 to the next number. */
  private static final double FLOAT32_ROUNDING = 0x1p-24;

  private static final double FLOAT64_ROUNDING = 0x1p-53;

  /** Of k roundings each may be of a number that the others have made a little larger. */
  private static final double COMPOUND = 1.001;

  private Model() {}

  /** What the ranks' contributions of one part are reduced to. */
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

  /** What terms are reduced to that have been multiplied. */
  static Expected reduced(DType dtype, Reduction reduction, List<ByteBuffer> terms) {
    ByteBuffer low = bytes(terms.get(0).remaining());
    ByteBuffer high = bytes(terms.get(0).remaining());
    if (dtype == DType.BOOL) {
      for (int i = 0; i < low.capacity(); i++) {
        low.put(i, (byte) (truth(reduction, terms, i) ? 1 : 0));
      }
      return Expected.between(dtype, low, low);
    }
    if (dtype.isInteger()) {
      for (int i = 0; i < low.capacity() / dtype.bytes(); i++) {
        put(dtype, low, i, integer(dtype, reduction, terms, i));
      }
      return Expected.between(dtype, low, low);
    }
    int components = low.capacity() / dtype.bytes() * (dtype.isComplex() ? 2 : 1);
    double[] bounds = new double[2];
    for (int i = 0; i < components; i++) {
      number(dtype, reduction, terms, i, bounds);
      Contributions.put(dtype, low, i, bounds[0]);
      Contributions.put(dtype, high, i, bounds[1]);
    }
    return Expected.between(dtype, low, high);
  }

  /** The products as they travel: rounded to the elements' type. */
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

  private static boolean truth(Reduction reduction, List<ByteBuffer> terms, int i) {
    int trues = 0;
    for (ByteBuffer term : terms) {
      trues += term.get(i) == 0 ? 0 : 1;
    }
    return switch (reduction) {
      case SUM, MAX, BOR -> trues > 0;
      case PRODUCT, MIN, BAND -> trues == terms.size();
      case BXOR -> trues % 2 == 1;
      case AVG, PREMUL_SUM -> throw new IllegalArgumentException(reduction + " of truth values");
    };
  }

  private static long integer(DType dtype, Reduction reduction, List<ByteBuffer> terms, int i) {
    long value = get(dtype, terms.get(0), i);
    for (int term = 1; term < terms.size(); term++) {
      long next = get(dtype, terms.get(term), i);
      value =
          switch (reduction) {
            case SUM -> value + next;
            case PRODUCT -> value * next;
            case MIN -> Math.min(value, next);
            case MAX -> Math.max(value, next);
            case BAND -> value & next;
            case BOR -> value | next;
            case BXOR -> value ^ next;
            case AVG, PREMUL_SUM -> throw new IllegalArgumentException(reduction + " of integers");
          };
    }
    return value;
  }

  private static void number(
      DType dtype, Reduction reduction, List<ByteBuffer> terms, int i, double[] bounds) {
    int n = terms.size();
    double value = Contributions.get(dtype, terms.get(0), i);
    double magnitude = Math.abs(value);
    for (int term = 1; term < n; term++) {
      double next = Contributions.get(dtype, terms.get(term), i);
      magnitude += Math.abs(next);
      value =
          switch (reduction) {
            case SUM, AVG, PREMUL_SUM -> value + next;
            case PRODUCT -> value * next;
            case MIN -> Math.min(value, next);
            case MAX -> Math.max(value, next);
            case BAND, BOR, BXOR -> throw new IllegalArgumentException(reduction + " of " + dtype);
          };
    }
    boolean wide = dtype == DType.FLOAT64 || dtype == DType.COMPLEX128;
    double rounding = COMPOUND * (wide ? 2 * FLOAT64_ROUNDING : FLOAT32_ROUNDING);
    double slack =
        switch (reduction) {
          case SUM, PREMUL_SUM -> (n - 1) * rounding * magnitude;
          case AVG -> n == 1 ? 0 : n * rounding * magnitude / n;
          case PRODUCT -> (n - 1) * rounding * Math.abs(value);
          default -> 0;
        };
    double result = reduction == Reduction.AVG ? value / n : value;
    boolean exact = slack == 0 || !Double.isFinite(result);
    bounds[0] = exact ? result : result - slack;
    bounds[1] = exact ? result : result + slack;
  }

  private static long get(DType dtype, ByteBuffer elements, int i) {
    return switch (dtype) {
      case UINT8 -> Byte.toUnsignedLong(elements.get(i));
      case INT8 -> elements.get(i);
      case INT16 -> elements.getShort(2 * i);
      case INT32 -> elements.getInt(4 * i);
      case INT64 -> elements.getLong(8 * i);
      default -> throw new IllegalArgumentException(dtype + " is no integer");
    };
  }

  private static void put(DType dtype, ByteBuffer elements, int i, long value) {
    switch (dtype) {
      case UINT8, INT8 -> elements.put(i, (byte) value);
      case INT16 -> elements.putShort(2 * i, (short) value);
      case INT32 -> elements.putInt(4 * i, (int) value);
      case INT64 -> elements.putLong(8 * i, value);
      default -> throw new IllegalArgumentException(dtype + " is no integer");
    }
  }

  private static ByteBuffer bytes(int capacity) {
    return ByteBuffer.allocate(capacity).order(ByteOrder.nativeOrder());
  }
}
