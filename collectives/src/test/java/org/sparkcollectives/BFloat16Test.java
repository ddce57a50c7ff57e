package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BFloat16Test {

  private static final int INFINITY = 0x7f80;

  private static int bfloat(float value) {
    return BFloat16.fromFloat(value) & 0xffff;
  }

  private static void assertBits(int bfloat, int expected, Object from) {
    if (bfloat != expected) {
      assertThat(Integer.toHexString(bfloat))
          .as("%s", from)
          .isEqualTo(Integer.toHexString(expected));
    }
  }

  /** Returns a value by the definition of the format's fields. */
  private static double value(int bfloat) {
    int exponent = (bfloat >>> 7) & 0xff;
    int fraction = bfloat & 0x7f;
    double magnitude =
        exponent == 0
            ? Math.scalb((double) fraction, -133)
            : Math.scalb(1 + fraction / 128.0, exponent - 127);
    return (bfloat & 0x8000) == 0 ? magnitude : -magnitude;
  }

  @Test
  void everyFiniteNumberHasItsValueAndComesBack() {
    for (int bfloat = 0; bfloat < 0x10000; bfloat++) {
      if ((bfloat & INFINITY) == INFINITY) {
        continue;
      }
      float value = BFloat16.toFloat((short) bfloat);
      if (Double.compare(value, value(bfloat)) != 0) {
        assertThat((double) value).as("%x", bfloat).isEqualTo(value(bfloat));
      }
      assertBits(bfloat(value), bfloat, value);
    }
  }

  @Test
  void infinitiesAndEveryNanComeBack() {
    assertThat(BFloat16.toFloat((short) 0x7f80)).isEqualTo(Float.POSITIVE_INFINITY);
    assertThat(BFloat16.toFloat((short) 0xff80)).isEqualTo(Float.NEGATIVE_INFINITY);
    assertBits(bfloat(Float.POSITIVE_INFINITY), 0x7f80, "infinity");
    assertBits(bfloat(Float.NEGATIVE_INFINITY), 0xff80, "-infinity");
    for (int fraction = 1; fraction < 0x80; fraction++) {
      for (int sign : new int[] {0, 0x8000}) {
        int nan = sign | INFINITY | fraction;
        float value = BFloat16.toFloat((short) nan);
        assertThat(value).isNaN();
        assertBits(bfloat(value), nan | 0x40, "NaN");
      }
    }
    // Rounded up, the first payload would become a zero; cut off, the second would become infinity.
    assertBits(bfloat(Float.intBitsToFloat(0x7fffffff)), 0x7fff, "NaN");
    assertBits(bfloat(Float.intBitsToFloat(0x7f800001)), 0x7fc0, "NaN");
  }

  @Test
  void whatLiesBetweenTwoNumbersGoesToTheNearestAndTiesToTheEven() {
    for (int lower = 0; lower < INFINITY - 1; lower++) {
      float middle = (float) ((value(lower) + value(lower + 1)) / 2);
      int even = (lower & 1) == 0 ? lower : lower + 1;
      assertBits(bfloat(middle), even, middle);
      assertBits(bfloat(Math.nextDown(middle)), lower, Math.nextDown(middle));
      assertBits(bfloat(Math.nextUp(middle)), lower + 1, Math.nextUp(middle));
      assertBits(bfloat(-middle), 0x8000 | even, -middle);
      assertBits(bfloat(-Math.nextDown(middle)), 0x8000 | lower, -Math.nextDown(middle));
      assertBits(bfloat(-Math.nextUp(middle)), 0x8000 | (lower + 1), -Math.nextUp(middle));
    }
  }

  @Test
  void whatIsBeyondTheLargestNumberOverflowsByTheSameRule() {
    assertBits(bfloat(Float.intBitsToFloat(0x7f7f7fff)), 0x7f7f, "just under the middle");
    assertBits(bfloat(Float.intBitsToFloat(0x7f7f8000)), INFINITY, "the middle");
    assertBits(bfloat(Float.MAX_VALUE), INFINITY, Float.MAX_VALUE);
    assertBits(bfloat(-Float.MAX_VALUE), 0x8000 | INFINITY, -Float.MAX_VALUE);
  }
}
