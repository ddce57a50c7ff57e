package org.sparkcollectives.internal.kernel;

import org.sparkcollectives.ReduceOp;

/** Loops over {@code byte[]} of signed integers; sums and products wrap. */
final class ByteLoops {

  private ByteLoops() {}

  static ArrayReduction<byte[]> reduction(ReduceOp.Kind kind) {
    return switch (kind) {
      case SUM -> ByteLoops::add;
      case PRODUCT -> ByteLoops::multiply;
      case MIN -> ByteLoops::minimum;
      case MAX -> ByteLoops::maximum;
      case BAND -> ByteLoops::and;
      case BOR -> ByteLoops::or;
      case BXOR -> ByteLoops::xor;
      case AVG, PREMUL_SUM -> throw new IllegalArgumentException(kind + " of integers");
    };
  }

  private static void add(byte[] accumulator, byte[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] += source[i];
    }
  }

  private static void multiply(byte[] accumulator, byte[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] *= source[i];
    }
  }

  private static void minimum(byte[] accumulator, byte[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = (byte) (Math.min(accumulator[i], source[i]));
    }
  }

  private static void maximum(byte[] accumulator, byte[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = (byte) (Math.max(accumulator[i], source[i]));
    }
  }

  private static void and(byte[] accumulator, byte[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] &= source[i];
    }
  }

  private static void or(byte[] accumulator, byte[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] |= source[i];
    }
  }

  private static void xor(byte[] accumulator, byte[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] ^= source[i];
    }
  }
}
