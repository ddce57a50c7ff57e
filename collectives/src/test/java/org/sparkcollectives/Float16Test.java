package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class Float16Test {

  private static final int LARGEST = 0x7bff;
  private static final int INFINITY = 0x7c00;

  /** Returns a value by the definition of the format. */
  private static double value(int half) {
    int exponent = (half >>> 10) & 0x1f;
    int fraction = half & 0x3ff;
    double magnitude =
        exponent == 0
            ? Math.scalb((double) fraction, -24)
            : Math.scalb(1 + fraction / 1024.0, exponent - 15);
    return (half & 0x8000) == 0 ? magnitude : -magnitude;
  }

  private static int half(float value) {
    return Float16.fromFloat(value) & 0xffff;
  }

  private static void assertBits(int half, int expected, Object from) {
    if (half != expected) {
      assertThat(Integer.toHexString(half)).as("%s", from).isEqualTo(Integer.toHexString(expected));
    }
  }

  @Test
  void everyFiniteHalfHasItsValueAndComesBack() {
    for (int half = 0; half < 0x10000; half++) {
      if ((half & INFINITY) == INFINITY) {
        continue;
      }
      float value = Float16.toFloat((short) half);
      if (Double.compare(value, value(half)) != 0) {
        assertThat((double) value).as("%x", half).isEqualTo(value(half));
      }
      assertBits(half(value), half, value);
    }
  }

  @Test
  void infinitiesAndEveryNanComeBack() {
    assertThat(Float16.toFloat((short) 0x7c00)).isEqualTo(Float.POSITIVE_INFINITY);
    assertThat(Float16.toFloat((short) 0xfc00)).isEqualTo(Float.NEGATIVE_INFINITY);
    assertBits(half(Float.POSITIVE_INFINITY), 0x7c00, "infinity");
    assertBits(half(Float.NEGATIVE_INFINITY), 0xfc00, "-infinity");
    for (int fraction = 1; fraction < 0x400; fraction++) {
      for (int sign : new int[] {0, 0x8000}) {
        int nan = sign | INFINITY | fraction;
        float value = Float16.toFloat((short) nan);
        assertThat(value).isNaN();
        assertBits(half(value), nan | 0x200, "NaN");
      }
    }
    // The payload is in the bits that a half has no room for.
    assertBits(half(Float.intBitsToFloat(0x7f800001)), 0x7e00, "NaN");
  }

  @Test
  void whatLiesBetweenTwoHalvesGoesToTheNearestAndTiesToTheEven() {
    for (int lower = 0; lower < LARGEST; lower++) {
      float middle = (float) ((value(lower) + value(lower + 1)) / 2);
      int even = (lower & 1) == 0 ? lower : lower + 1;
      assertBits(half(middle), even, middle);
      assertBits(half(Math.nextDown(middle)), lower, Math.nextDown(middle));
      assertBits(half(Math.nextUp(middle)), lower + 1, Math.nextUp(middle));
      assertBits(half(-middle), 0x8000 | even, -middle);
      assertBits(half(-Math.nextDown(middle)), 0x8000 | lower, -Math.nextDown(middle));
      assertBits(half(-Math.nextUp(middle)), 0x8000 | (lower + 1), -Math.nextUp(middle));
    }
  }

  @Test
  void whatIsBeyondTheLargestHalfOverflowsByTheSameRule() {
    assertBits(half(65504), LARGEST, 65504);
    assertBits(half(Math.nextDown(65520f)), LARGEST, "just under 65520");
    assertBits(half(65520), INFINITY, 65520);
    assertBits(half(65536), INFINITY, 65536);
    assertBits(half(Float.MAX_VALUE), INFINITY, Float.MAX_VALUE);
    assertBits(half(-Float.MAX_VALUE), 0x8000 | INFINITY, -Float.MAX_VALUE);
  }

  @Test
  void theSmallestFloatsBecomeZeroAndKeepTheirSign() {
    assertBits(half(Float.MIN_VALUE), 0, Float.MIN_VALUE);
    assertBits(half(-Float.MIN_VALUE), 0x8000, -Float.MIN_VALUE);
    assertBits(half(-0f), 0x8000, -0f);
  }
}
