package org.sparkcollectives.ddp;

import org.sparkcollectives.BFloat16;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;

/**
 * Rounds floats to a half type and divides them.
 *
 * <p>A division by a power of two, which the number of ranks often is, only lowers the exponent
 * where the quotient is a normal number. If this holds for all floats of a call, loops over
 * integers do the work; else each float is looked at. The floats are given by their bits, because
 * HotSpot of Java 17 vectorizes loops over integers, and no loop that asks a float for its bits.
 */
final class HalfDivision {

  private static final int SIGN = 0x8000;

  /** The fraction bits that a half has less than a float. */
  private final int shift;

  /** The bits of the least float whose quotient is a normal number. */
  private final int least;

  /** The bits of the greatest float that rounds to a finite half; -1 without a power of two. */
  private final int greatest;

  /** The number that lowers the exponent, and rounds where the last bits are shifted out. */
  private final int rounding;

  private final boolean isFloat16;
  private final float divisor;

  /**
   * Creates the division by a number.
   *
   * @param type {@link DType#FLOAT16} or {@link DType#BFLOAT16}
   */
  HalfDivision(DType type, float divisor) {
    this.isFloat16 = type == DType.FLOAT16;
    this.divisor = divisor;
    this.shift = isFloat16 ? 13 : 16;
    int power = Math.getExponent(divisor);
    boolean isPower = power >= 0 && power <= Float.MAX_EXPONENT && divisor == Math.scalb(1f, power);
    int rebias = (isFloat16 ? 112 : 0) << 23;
    int lower = power << 23;
    this.least = rebias + lower + (1 << 23);
    int infinite = isFloat16 ? Float.floatToRawIntBits(65520f) : 0x7f7f8000;
    this.greatest = isPower ? infinite - 1 : -1;
    this.rounding = (1 << (shift - 1)) - 1 - rebias - lower;
  }

  /**
   * Rounds the first floats to a half type, divides them, and rounds the quotients, each time to
   * the nearest, ties to even.
   *
   * @param bits those of the floats; changed
   */
  void roundAndDivide(int[] bits, short[] halves, int length) {
    if (areNormal(bits, length)) {
      divideNormal(bits, length);
      for (int i = 0; i < length; i++) {
        halves[i] = (short) bits[i];
      }
    } else {
      divideAny(bits, halves, length);
    }
  }

  private boolean areNormal(int[] bits, int length) {
    int from = least;
    int to = greatest;
    int outside = 0;
    for (int i = 0; i < length; i++) {
      int magnitude = bits[i] & Integer.MAX_VALUE;
      // Negative if one of the differences is.
      outside |= (magnitude - from) | (to - magnitude);
    }
    return outside >= 0;
  }

  private void divideNormal(int[] bits, int length) {
    int by = shift;
    int added = rounding;
    for (int i = 0; i < length; i++) {
      int magnitude = bits[i] & Integer.MAX_VALUE;
      // A carry out of the fraction propagates into the exponent.
      int odd = (magnitude >>> by) & 1;
      bits[i] = ((bits[i] >>> 16) & SIGN) | ((magnitude + added + odd) >>> by);
    }
  }

  private void divideAny(int[] bits, short[] halves, int length) {
    for (int i = 0; i < length; i++) {
      int magnitude = bits[i] & Integer.MAX_VALUE;
      if (magnitude >= least && magnitude <= greatest) {
        int odd = (magnitude >>> shift) & 1;
        halves[i] = (short) (((bits[i] >>> 16) & SIGN) | ((magnitude + rounding + odd) >>> shift));
      } else {
        halves[i] = divided(Float.intBitsToFloat(bits[i]));
      }
    }
  }

  private short divided(float value) {
    return isFloat16
        ? Float16.fromFloat(Float16.toFloat(Float16.fromFloat(value)) / divisor)
        : BFloat16.fromFloat(BFloat16.toFloat(BFloat16.fromFloat(value)) / divisor);
  }
}
