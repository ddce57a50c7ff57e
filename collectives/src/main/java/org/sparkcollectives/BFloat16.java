package org.sparkcollectives;

/** Converts bfloat16 numbers, which are the upper 16 bits of a float. */
public final class BFloat16 {

  private static final int FLOAT_INFINITY = 0x7f800000;

  /** The fraction bit that marks a quiet NaN, and keeps a NaN from becoming infinity. */
  private static final int QUIET = 0x40;

  private BFloat16() {}

  /** Returns the value as a float, exactly. */
  public static float toFloat(short bfloat) {
    return Float.intBitsToFloat(bfloat << 16);
  }

  /**
   * Returns the nearest bfloat16, ties to even; infinity beyond the largest. A NaN becomes a quiet
   * NaN with its sign and the upper bits of its payload.
   */
  public static short fromFloat(float value) {
    int bits = Float.floatToRawIntBits(value);
    if ((bits & Integer.MAX_VALUE) > FLOAT_INFINITY) {
      return (short) ((bits >>> 16) | QUIET);
    }
    int odd = (bits >>> 16) & 1;
    return (short) ((bits + 0x7fff + odd) >>> 16);
  }
}
