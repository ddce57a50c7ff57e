package org.sparkcollectives.internal.kernel;

import org.sparkcollectives.ReduceOp;

/** Loops over {@code byte[]} of unsigned integers; sums and products wrap. */
final class UnsignedByteLoops {

  private UnsignedByteLoops() {}

  static ArrayReduction<byte[]> reduction(ReduceOp.Kind kind) {
    return switch (kind) {
      case MIN -> UnsignedByteLoops::minimum;
      case MAX -> UnsignedByteLoops::maximum;
      // The low eight bits of these do not depend on the sign.
      case SUM, PRODUCT, BAND, BOR, BXOR, AVG, PREMUL_SUM -> ByteLoops.reduction(kind);
    };
  }

  private static void minimum(byte[] accumulator, byte[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = (byte) Math.min(accumulator[i] & 0xff, source[i] & 0xff);
    }
  }

  private static void maximum(byte[] accumulator, byte[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = (byte) Math.max(accumulator[i] & 0xff, source[i] & 0xff);
    }
  }
}
