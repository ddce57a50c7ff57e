package org.sparkcollectives;

/** Converts IEEE 754 half-precision numbers: 1 sign, 5 exponent and 10 fraction bits. */
public final class Float16 {

  private static final int SIGN = 0x8000;
  private static final int MAGNITUDE = 0x7fff;
  private static final int INFINITY = 0x7c00;
  private static final int QUIET_NAN = 0x7e00;

  /** The additional fraction bits of a float. */
  private static final int SHIFT = 13;

  /** The difference of the exponents' biases, 127 - 15, as a factor. */
  private static final float REBIAS = 0x1p112f;

  private static final int FLOAT_INFINITY = 0x7f800000;

  /** 2^16: this and all above overflow. */
  private static final int OVERFLOW = Float.floatToRawIntBits(0x1p16f);

  /** 2^-14: all below are subnormal halves. */
  private static final int SMALLEST_NORMAL = Float.floatToRawIntBits(0x1p-14f);

  /**
   * All halves as floats, by their bits: to look one up takes a third of the time to compute it.
   */
  private static final float[] FLOATS = new float[1 << Short.SIZE];

  static {
    for (int bits = 0; bits < FLOATS.length; bits++) {
      FLOATS[bits] = compute(bits);
    }
  }

  private Float16() {}

  /** Returns the value as a float, exactly. A NaN keeps its sign and payload. */
  public static float toFloat(short half) {
    return FLOATS[Short.toUnsignedInt(half)];
  }

  private static float compute(int half) {
    int magnitude = half & MAGNITUDE;
    int sign = (half & SIGN) << 16;
    if (magnitude >= INFINITY) {
      return Float.intBitsToFloat(sign | FLOAT_INFINITY | (magnitude << SHIFT));
    }
    // With the fraction in place the exponent is too small by the difference of the biases. The
    // multiplication corrects it, and normalizes what is subnormal as a half.
    float value = Float.intBitsToFloat(magnitude << SHIFT) * REBIAS;
    return Float.intBitsToFloat(sign | Float.floatToRawIntBits(value));
  }

  /**
   * Returns the nearest half, ties to even. From 65520 on it is infinity, below 2^-25 zero. A NaN
   * becomes a quiet NaN with its sign and the upper bits of its payload.
   */
  public static short fromFloat(float value) {
    int bits = Float.floatToRawIntBits(value);
    int sign = (bits >>> 16) & SIGN;
    int magnitude = bits & Integer.MAX_VALUE;
    // First what most numbers are: one comparison finds them.
    if (Integer.compareUnsigned(magnitude - SMALLEST_NORMAL, OVERFLOW - SMALLEST_NORMAL) < 0) {
      // A carry out of the fraction propagates into the exponent, up to infinity.
      int odd = (magnitude >>> SHIFT) & 1;
      int rebiased = magnitude - (112 << 23);
      return (short) (sign | ((rebiased + 0xfff + odd) >>> SHIFT));
    }
    if (magnitude < SMALLEST_NORMAL) {
      // The last bit of 0.5 is worth 2^-24, as that of a subnormal half: the addition rounds to it.
      float rounded = Float.intBitsToFloat(magnitude) + 0.5f;
      return (short) (sign | (Float.floatToRawIntBits(rounded) - Float.floatToRawIntBits(0.5f)));
    }
    int special =
        magnitude > FLOAT_INFINITY
            ? QUIET_NAN | ((magnitude >>> SHIFT) & (INFINITY - 1))
            : INFINITY;
    return (short) (sign | special);
  }
}
