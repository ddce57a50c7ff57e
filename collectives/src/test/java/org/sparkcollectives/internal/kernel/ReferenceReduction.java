package org.sparkcollectives.internal.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import org.sparkcollectives.BFloat16;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.spi.tensor.ArrayType;

/**
 * The plain definition of a reduction, one element after the other, on elements given as bytes. The
 * kernels must give the same bits.
 */
final class ReferenceReduction {

  private ReferenceReduction() {}

  /** Reduces contributions in their order, each multiplied by the factor of {@code op}. */
  static ByteBuffer reduce(DType dtype, ReduceOp op, List<ByteBuffer> contributions) {
    int width = dtype.bytes() / ArrayType.slots(dtype);
    ByteBuffer result = bytes(contributions.get(0).capacity());
    for (int at = 0; at < result.capacity(); at += width) {
      if (dtype == DType.BOOL) {
        result.put(at, (byte) (truth(op.kind(), contributions, at) ? 1 : 0));
      } else if (dtype.isInteger()) {
        long value = integer(dtype, contributions.get(0), at);
        for (ByteBuffer contribution : contributions.subList(1, contributions.size())) {
          // Wrapping at every step and wrapping once are the same.
          value = combine(op.kind(), value, integer(dtype, contribution, at));
        }
        put(dtype, result, at, value);
      } else if (width == Double.BYTES) {
        double value = contributions.get(0).getDouble(at) * op.factor();
        for (ByteBuffer contribution : contributions.subList(1, contributions.size())) {
          value = combine(op.kind(), value, contribution.getDouble(at) * op.factor());
        }
        result.putDouble(at, op.kind() == ReduceOp.Kind.AVG ? value / contributions.size() : value);
      } else {
        float value = multiplied(dtype, op, contributions.get(0), at);
        for (ByteBuffer contribution : contributions.subList(1, contributions.size())) {
          value = combine(op.kind(), value, multiplied(dtype, op, contribution, at));
        }
        putFloat(
            dtype,
            result,
            at,
            op.kind() == ReduceOp.Kind.AVG ? value / contributions.size() : value);
      }
    }
    return result;
  }

  private static boolean truth(ReduceOp.Kind kind, List<ByteBuffer> contributions, int at) {
    int trues = 0;
    for (ByteBuffer contribution : contributions) {
      trues += contribution.get(at) == 0 ? 0 : 1;
    }
    return switch (kind) {
      case SUM, MAX, BOR -> trues > 0;
      case PRODUCT, MIN, BAND -> trues == contributions.size();
      case BXOR -> trues % 2 == 1;
      case AVG, PREMUL_SUM -> throw new AssertionError(kind);
    };
  }

  private static long combine(ReduceOp.Kind kind, long a, long b) {
    return switch (kind) {
      case SUM -> a + b;
      case PRODUCT -> a * b;
      case MIN -> a < b ? a : b;
      case MAX -> a > b ? a : b;
      case BAND -> a & b;
      case BOR -> a | b;
      case BXOR -> a ^ b;
      case AVG, PREMUL_SUM -> throw new AssertionError(kind);
    };
  }

  private static float combine(ReduceOp.Kind kind, float a, float b) {
    return switch (kind) {
      case SUM, AVG, PREMUL_SUM -> a + b;
      case PRODUCT -> a * b;
      case MIN -> Math.min(a, b);
      case MAX -> Math.max(a, b);
      case BAND, BOR, BXOR -> throw new AssertionError(kind);
    };
  }

  private static double combine(ReduceOp.Kind kind, double a, double b) {
    return switch (kind) {
      case SUM, AVG, PREMUL_SUM -> a + b;
      case PRODUCT -> a * b;
      case MIN -> Math.min(a, b);
      case MAX -> Math.max(a, b);
      case BAND, BOR, BXOR -> throw new AssertionError(kind);
    };
  }

  private static long integer(DType dtype, ByteBuffer elements, int at) {
    return switch (dtype) {
      case UINT8 -> Byte.toUnsignedLong(elements.get(at));
      case INT8 -> elements.get(at);
      case INT16 -> elements.getShort(at);
      case INT32 -> elements.getInt(at);
      case INT64 -> elements.getLong(at);
      default -> throw new AssertionError(dtype);
    };
  }

  private static void put(DType dtype, ByteBuffer elements, int at, long value) {
    switch (dtype) {
      case UINT8, INT8 -> elements.put(at, (byte) value);
      case INT16 -> elements.putShort(at, (short) value);
      case INT32 -> elements.putInt(at, (int) value);
      case INT64 -> elements.putLong(at, value);
      default -> throw new AssertionError(dtype);
    }
  }

  /** Returns a contribution as it is sent: the product with the factor is rounded to its type. */
  private static float multiplied(DType dtype, ReduceOp op, ByteBuffer elements, int at) {
    float value = floating(dtype, elements, at) * (float) op.factor();
    return switch (dtype) {
      case FLOAT16 -> Float16.toFloat(Float16.fromFloat(value));
      case BFLOAT16 -> BFloat16.toFloat(BFloat16.fromFloat(value));
      default -> value;
    };
  }

  private static float floating(DType dtype, ByteBuffer elements, int at) {
    return switch (dtype) {
      case FLOAT16 -> Float16.toFloat(elements.getShort(at));
      case BFLOAT16 -> BFloat16.toFloat(elements.getShort(at));
      default -> elements.getFloat(at);
    };
  }

  private static void putFloat(DType dtype, ByteBuffer elements, int at, float value) {
    switch (dtype) {
      case FLOAT16 -> elements.putShort(at, Float16.fromFloat(value));
      case BFLOAT16 -> elements.putShort(at, BFloat16.fromFloat(value));
      default -> elements.putFloat(at, value);
    }
  }

  /** Returns elements with ordinary values and, sometimes, any bits at all. */
  static ByteBuffer random(DType dtype, int count, Random random) {
    byte[] bits = new byte[count * dtype.bytes()];
    random.nextBytes(bits);
    ByteBuffer elements = ByteBuffer.wrap(bits).order(ByteOrder.nativeOrder());
    int width = dtype.bytes() / ArrayType.slots(dtype);
    for (int at = 0; at < elements.capacity(); at += width) {
      boolean ordinary = random.nextInt(4) > 0;
      if (dtype == DType.BOOL) {
        elements.put(at, ordinary ? (byte) (random.nextBoolean() ? 1 : 0) : elements.get(at));
      } else if (!dtype.isInteger() && ordinary) {
        double value = random.nextInt(5) == 0 ? random.nextInt(3) - 1 : random.nextGaussian();
        if (width == Double.BYTES) {
          elements.putDouble(at, random.nextBoolean() ? value : -value);
        } else {
          putFloat(dtype, elements, at, (float) (random.nextBoolean() ? value : -value));
        }
      }
    }
    return elements;
  }

  /** Returns the elements with one bit pattern for all NaNs, whose payload is not specified. */
  static ByteBuffer canonical(DType dtype, ByteBuffer elements) {
    ByteBuffer canonical = bytes(elements.remaining());
    canonical.put(0, elements, elements.position(), elements.remaining());
    if (dtype == DType.BOOL || dtype.isInteger()) {
      return canonical;
    }
    int width = dtype.bytes() / ArrayType.slots(dtype);
    for (int at = 0; at < canonical.capacity(); at += width) {
      if (width == Double.BYTES) {
        if (Double.isNaN(canonical.getDouble(at))) {
          canonical.putDouble(at, Double.NaN);
        }
      } else if (Float.isNaN(floating(dtype, canonical, at))) {
        putFloat(dtype, canonical, at, Float.NaN);
      }
    }
    return canonical;
  }

  private static ByteBuffer bytes(int capacity) {
    return ByteBuffer.allocate(capacity).order(ByteOrder.nativeOrder());
  }
}
