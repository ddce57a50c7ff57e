package org.sparkcollectives.ddp;

import org.sparkcollectives.BFloat16;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;

/** Rounds floats to a half type and divides them. */
final class HalfDivision {

  private static final int SIGN = 0x8000;

  private HalfDivision() {}

  /**
   * Rounds the first elements of an array to a half type, divides them, and rounds the quotients,
   * each time to the nearest, ties to even.
   *
   * <p>A power of two, which the number of ranks often is, only lowers the exponent of a half whose
   * quotient is a normal number: most take one pass of integers.
   */
  static void roundAndDivide(
      DType type, float[] floats, short[] halves, int length, float divisor) {
    boolean isFloat16 = type == DType.FLOAT16;
    int power = Math.getExponent(divisor);
    boolean isPower = power >= 0 && divisor == Math.scalb(1f, power);
    int shift = isFloat16 ? 13 : 16;
    int rebias = (isFloat16 ? 112 : 0) << 23;
    int lower = power << 23;
    // From here on all quotients are normal numbers, and from the end on halves are infinite.
    int least = rebias + lower + (1 << 23);
    int infinite = isFloat16 ? Float.floatToRawIntBits(65520f) : 0x7f7f8000;
    int span = isPower ? Math.max(0, infinite - least) : 0;
    int rounding = (1 << (shift - 1)) - 1 - rebias - lower;
    for (int i = 0; i < length; i++) {
      int bits = Float.floatToRawIntBits(floats[i]);
      int magnitude = bits & Integer.MAX_VALUE;
      if (Integer.compareUnsigned(magnitude - least, span) < 0) {
        // A carry out of the fraction propagates into the exponent.
        int odd = (magnitude >>> shift) & 1;
        halves[i] = (short) (((bits >>> 16) & SIGN) | ((magnitude + rounding + odd) >>> shift));
      } else {
        halves[i] = slow(isFloat16, floats[i], divisor);
      }
    }
  }

  private static short slow(boolean isFloat16, float value, float divisor) {
    return isFloat16
        ? Float16.fromFloat(Float16.toFloat(Float16.fromFloat(value)) / divisor)
        : BFloat16.fromFloat(BFloat16.toFloat(BFloat16.fromFloat(value)) / divisor);
  }
}
