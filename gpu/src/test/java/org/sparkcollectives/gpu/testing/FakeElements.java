package org.sparkcollectives.gpu.testing;

import java.nio.ByteBuffer;
import java.util.List;
import org.sparkcollectives.BFloat16;
import org.sparkcollectives.Float16;

/** Arithmetic on elements of NCCL's types, by their numbers, not optimized. */
final class FakeElements {

  private static final int[] BYTES = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};

  private FakeElements() {}

  static int bytes(int type) {
    return BYTES[type];
  }

  /**
   * Reduces the contributions of all ranks.
   *
   * @param op the number of NCCL's reduction
   * @param factors the factor of each rank's elements; null for none
   */
  static ByteBuffer reduce(int type, int op, List<ByteBuffer> all, double[] factors) {
    ByteBuffer result = ByteBuffer.allocate(all.get(0).capacity()).order(all.get(0).order());
    for (int at = 0; at < result.capacity(); at += bytes(type)) {
      if (type >= 6) {
        double value = factor(factors, 0) * real(type, all.get(0), at);
        for (int rank = 1; rank < all.size(); rank++) {
          double next = factor(factors, rank) * real(type, all.get(rank), at);
          value =
              switch (op) {
                case 1 -> value * next;
                case 2 -> Math.max(value, next);
                case 3 -> Math.min(value, next);
                default -> value + next;
              };
        }
        putReal(type, result, at, op == 4 ? value / all.size() : value);
      } else {
        long value = whole(type, all.get(0), at);
        for (int rank = 1; rank < all.size(); rank++) {
          long next = whole(type, all.get(rank), at);
          value =
              switch (op) {
                case 1 -> value * next;
                case 2 -> Math.max(value, next);
                case 3 -> Math.min(value, next);
                default -> value + next;
              };
        }
        putWhole(type, result, at, value);
      }
    }
    return result;
  }

  private static double factor(double[] factors, int rank) {
    return factors == null ? 1 : factors[rank];
  }

  static double real(int type, ByteBuffer bytes, int at) {
    return switch (type) {
      case 6 -> Float16.toFloat(bytes.getShort(at));
      case 7 -> bytes.getFloat(at);
      case 8 -> bytes.getDouble(at);
      case 9 -> BFloat16.toFloat(bytes.getShort(at));
      default -> throw new AssertionError("type " + type);
    };
  }

  private static void putReal(int type, ByteBuffer bytes, int at, double value) {
    switch (type) {
      case 6 -> bytes.putShort(at, Float16.fromFloat((float) value));
      case 7 -> bytes.putFloat(at, (float) value);
      case 8 -> bytes.putDouble(at, value);
      case 9 -> bytes.putShort(at, BFloat16.fromFloat((float) value));
      default -> throw new AssertionError("type " + type);
    }
  }

  private static long whole(int type, ByteBuffer bytes, int at) {
    return switch (type) {
      case 0 -> bytes.get(at);
      case 1 -> bytes.get(at) & 0xff;
      case 2 -> bytes.getInt(at);
      case 4 -> bytes.getLong(at);
      default -> throw new AssertionError("type " + type);
    };
  }

  private static void putWhole(int type, ByteBuffer bytes, int at, long value) {
    switch (type) {
      case 0, 1 -> bytes.put(at, (byte) value);
      case 2 -> bytes.putInt(at, (int) value);
      case 4 -> bytes.putLong(at, value);
      default -> throw new AssertionError("type " + type);
    }
  }
}
