package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.BFloat16;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;

/** Tests quotients of halves against those that are computed in floats, step by step. */
class HalfDivisionTest {

  /** All halves of both types, what is between them and beside it, and any bits. */
  private static float[] floats() {
    Random random = new Random(1);
    float[] floats = new float[8 << Short.SIZE];
    for (int bits = 0; bits < 1 << Short.SIZE; bits++) {
      float half = Float16.toFloat((short) bits);
      float between = (half + Float16.toFloat((short) (bits + 1))) / 2;
      floats[8 * bits] = half;
      floats[8 * bits + 1] = between;
      floats[8 * bits + 2] = Math.nextUp(between);
      floats[8 * bits + 3] = Math.nextDown(between);
      floats[8 * bits + 4] = BFloat16.toFloat((short) bits);
      floats[8 * bits + 5] = Float.intBitsToFloat(bits << 16 | 0x8000);
      floats[8 * bits + 6] = Float.intBitsToFloat(bits << 16 | 0x7fff);
      floats[8 * bits + 7] = Float.intBitsToFloat(random.nextInt());
    }
    return floats;
  }

  /** Divides one by one, so that each float's neighbours do not decide how, and all together. */
  private static void divide(DType type, float[] floats, short[] quotients, float divisor) {
    HalfDivision division = new HalfDivision(type, divisor);
    short[] alone = new short[1];
    short[] together = new short[floats.length];
    int[] all = new int[floats.length];
    for (int i = 0; i < floats.length; i++) {
      all[i] = Float.floatToRawIntBits(floats[i]);
      division.roundAndDivide(new int[] {all[i]}, alone, 1);
      quotients[i] = alone[0];
    }
    division.roundAndDivide(all, together, floats.length);
    assertThat(together).isEqualTo(quotients);
  }

  @ParameterizedTest
  @ValueSource(floats = {1, 2, 3, 4, 7.5f, 64, 0x1p15f, 0x1p40f, 0x1p127f, 0.5f})
  void allQuotientsAreThoseOfRoundedFloats(float divisor) {
    float[] floats = floats();
    short[] quotients = new short[floats.length];
    short[] brain = new short[floats.length];
    divide(DType.FLOAT16, floats, quotients, divisor);
    divide(DType.BFLOAT16, floats, brain, divisor);
    short[] expected = new short[floats.length];
    short[] expectedBrain = new short[floats.length];
    for (int i = 0; i < floats.length; i++) {
      float half = Float16.toFloat(Float16.fromFloat(floats[i]));
      expected[i] = Float16.fromFloat(half / divisor);
      float brainHalf = BFloat16.toFloat(BFloat16.fromFloat(floats[i]));
      expectedBrain[i] = BFloat16.fromFloat(brainHalf / divisor);
    }
    assertThat(quotients).isEqualTo(expected);
    assertThat(brain).isEqualTo(expectedBrain);
  }

  @ParameterizedTest
  @ValueSource(floats = {2, 3})
  void whatIsBeyondTheLengthStays(float divisor) {
    short[] halves = new short[2];
    int[] six = {Float.floatToRawIntBits(6), Float.floatToRawIntBits(6)};
    new HalfDivision(DType.FLOAT16, divisor).roundAndDivide(six, halves, 1);
    assertThat(Float16.toFloat(halves[0])).isEqualTo(6 / divisor);
    assertThat(halves[1]).isZero();
  }
}
