package org.sparkcollectives.spi.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.BFloat16;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;

/** Tests conversions of tiles against those one by one, by this class and by the JVM's own. */
class HalfFormatTest {

  private static final int ALL = 1 << Short.SIZE;
  private static final int TILE = TilePool.LENGTH;

  /** The narrowing of a tile. */
  private interface Narrowing {
    void narrow(float[] floats, int index, short[] halves, int length);
  }

  private static short fromFloat(HalfFormat format, float value) {
    return format == HalfFormat.FLOAT16 ? Float16.fromFloat(value) : BFloat16.fromFloat(value);
  }

  private static float toFloat(HalfFormat format, int half) {
    return format == HalfFormat.FLOAT16
        ? Float16.toFloat((short) half)
        : BFloat16.toFloat((short) half);
  }

  private static boolean isSignallingNan(HalfFormat format, int half) {
    int quiet = format == HalfFormat.FLOAT16 ? 0x200 : 0x40;
    return (half & 0x7fff) > format.infinity() && (half & quiet) == 0;
  }

  /** Fails where a tile has other bits than its floats have one by one. */
  private static void assertNarrowed(HalfFormat format, Narrowing by, float[] floats) {
    short[] halves = new short[floats.length];
    by.narrow(floats, 0, halves, floats.length);
    for (int i = 0; i < floats.length; i++) {
      short expected = fromFloat(format, floats[i]);
      if (halves[i] != expected) {
        assertThat(Integer.toHexString(halves[i]))
            .as("%x of %s", Float.floatToRawIntBits(floats[i]), format)
            .isEqualTo(Integer.toHexString(expected));
      }
    }
  }

  /** Narrows all halves, what lies between two, and beside it, with both signs. */
  private static void narrowNeighbours(HalfFormat format, Narrowing by) {
    float[] tile = new float[TILE];
    int used = 0;
    for (int half = 0; half < ALL; half++) {
      float value = toFloat(format, half);
      double next = toFloat(format, half + 1);
      float middle = (float) ((value + next) / 2);
      float[] these = {value, middle, Math.nextUp(middle), Math.nextDown(middle)};
      System.arraycopy(these, 0, tile, used, these.length);
      used += these.length;
      if (used == TILE) {
        assertNarrowed(format, by, tile);
        used = 0;
      }
    }
    assertThat(used).isZero();
  }

  private static void narrowAnyBits(HalfFormat format, Narrowing by) {
    long seed = System.nanoTime();
    System.out.println("HalfFormatTest " + format + ", seed " + seed);
    Random random = new Random(seed);
    float[] tile = new float[TILE];
    for (int upper = 0; upper < ALL; upper += TILE / 16) {
      for (int i = 0; i < TILE; i++) {
        // All exponents, and all beginnings of fractions and payloads.
        int lower = i % 16 == 0 ? 0x8000 : random.nextInt(ALL);
        tile[i] = Float.intBitsToFloat((upper + i / 16) << 16 | lower);
      }
      assertNarrowed(format, by, tile);
    }
  }

  @ParameterizedTest
  @EnumSource
  void allHalvesAreWidenedExactly(HalfFormat format) {
    short[] halves = new short[ALL];
    for (int half = 0; half < ALL; half++) {
      halves[half] = (short) half;
    }
    float[] floats = new float[ALL + 1];
    // The first is interpreted, the others are compiled.
    for (int repeat = 0; repeat < 20; repeat++) {
      format.widen(halves, floats, 1, ALL);
      for (int half = 0; half < ALL; half++) {
        int quiet = isSignallingNan(format, half) ? 0x400000 : 0;
        int bits = Float.floatToRawIntBits(floats[half + 1]) | quiet;
        int expected = Float.floatToRawIntBits(toFloat(format, half)) | quiet;
        if (bits != expected) {
          assertThat(bits).as("%x of %s", half, format).isEqualTo(expected);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatLiesBesideAndBetweenHalvesIsRoundedAsOneByOne(HalfFormat format) {
    narrowNeighbours(format, format::narrow);
    narrowAnyBits(format, format::narrow);
  }

  /** Other JVMs than this may have no instructions. */
  @Test
  void loopsOverIntegersRoundAsOneByOne() {
    narrowNeighbours(HalfFormat.FLOAT16, HalfRounding::toFloat16);
    narrowAnyBits(HalfFormat.FLOAT16, HalfRounding::toFloat16);
  }

  @ParameterizedTest
  @EnumSource
  void floatsAreRoundedWhereTheyLie(HalfFormat format) {
    float[] floats = {1.0001f, 1e-8f, -1e9f, 3};
    format.round(floats, 3);
    float[] expected = {1.0001f, 1e-8f, -1e9f, 3};
    for (int i = 0; i < 3; i++) {
      expected[i] = toFloat(format, fromFloat(format, expected[i]));
    }
    assertThat(floats).isEqualTo(expected);
  }

  @ParameterizedTest
  @EnumSource
  void onlyThoseFromTheIndexOnAreConverted(HalfFormat format) {
    short[] halves = {1, 2, 3};
    format.narrow(new float[] {9, 1.5f, -2, 9}, 1, halves, 2);
    assertThat(halves).containsExactly(fromFloat(format, 1.5f), fromFloat(format, -2), (short) 3);
    float[] floats = {9, 9, 9, 9};
    format.widen(halves, floats, 1, 2);
    assertThat(floats).containsExactly(9, 1.5f, -2, 9);
  }

  @Test
  void onlyHalfTypesHaveAFormat() {
    assertThat(HalfFormat.of(DType.FLOAT16).dtype()).isEqualTo(DType.FLOAT16);
    assertThat(HalfFormat.of(DType.BFLOAT16).dtype()).isEqualTo(DType.BFLOAT16);
    assertThatThrownBy(() -> HalfFormat.of(DType.FLOAT32))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("float32");
  }
}
