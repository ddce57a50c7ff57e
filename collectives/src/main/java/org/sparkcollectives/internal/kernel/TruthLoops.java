package org.sparkcollectives.internal.kernel;

import org.sparkcollectives.ReduceOp;

/** Loops over {@code byte[]} of truth values: all but 0 is true, results are 0 or 1. */
final class TruthLoops {

  private TruthLoops() {}

  static ArrayReduction<byte[]> reduction(ReduceOp.Kind kind) {
    return switch (kind) {
      case SUM, MAX, BOR -> TruthLoops::or;
      case PRODUCT, MIN, BAND -> TruthLoops::and;
      case BXOR -> TruthLoops::xor;
      case AVG, PREMUL_SUM -> throw new IllegalArgumentException(kind + " of truth values");
    };
  }

  private static void or(byte[] accumulator, byte[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = truth(accumulator[i] | source[i]);
    }
  }

  private static void and(byte[] accumulator, byte[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = (byte) (truth(accumulator[i]) & truth(source[i]));
    }
  }

  private static void xor(byte[] accumulator, byte[] source, int from, int to) {
    for (int i = from; i < to; i++) {
      accumulator[i] = (byte) (truth(accumulator[i]) ^ truth(source[i]));
    }
  }

  /** Turns every value of a range that is not 0 into 1. */
  static void canonicalize(byte[] array, int from, int to) {
    for (int i = from; i < to; i++) {
      array[i] = truth(array[i]);
    }
  }

  /**
   * Returns 0 for 0, else 1, without a branch: 0 is the only value for which both it and its
   * negative have no sign bit.
   */
  private static byte truth(int value) {
    return (byte) ((value | -value) >>> 31);
  }
}
