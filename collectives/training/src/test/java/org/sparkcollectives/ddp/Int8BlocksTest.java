package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what bytes with a scale for each block stand for. */
class Int8BlocksTest {

  private static final int TILE = FloatElements.TILE;

  private final byte[] bytes = new byte[TILE + TILE / 16 * Float.BYTES];
  private final Int8Blocks.Place place = new Int8Blocks.Place(Int8Blocks.memory(bytes), 0, TILE);

  /** Writes values as bytes; returns what these stand for. */
  private float[] roundTrip(int block, float[] values, float[] left) {
    Int8Blocks blocks = new Int8Blocks(block);
    float[] tile = new float[TILE];
    System.arraycopy(values, 0, tile, 0, values.length);
    blocks.encode(tile, values.length, left, place);
    float[] read = new float[values.length];
    blocks.decode(read, values.length, 1, place);
    return read;
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 100, 256, 1024})
  void anElementIsOffByHalfALevelOfItsBlockAndTheRestIsLeft(int block) {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    int length = new Int8Blocks(block).tile() - 3;
    float[] values = new float[length];
    for (int i = 0; i < length; i++) {
      values[i] = (float) (random.nextGaussian() * Math.pow(10, i / block % 30 - 15));
    }
    float[] left = new float[TILE];
    float[] read = roundTrip(block, values, left);
    for (int i = 0; i < length; i++) {
      float largest = 0;
      for (int j = i / block * block; j < Math.min(length, i / block * block + block); j++) {
        largest = Math.max(largest, Math.abs(values[j]));
      }
      assertThat(read[i]).as("seed %d [%d]", seed, i).isCloseTo(values[i], within(largest / 253));
      assertThat(read[i] + left[i]).isCloseTo(values[i], within(largest * 1e-6f));
    }
  }

  @Test
  void zerosTinyAndHugeNumbersKeepTheirSizeOrAreLeft() {
    float[] left = new float[TILE];
    assertThat(roundTrip(16, new float[16], left)).containsOnly(0f);
    float[] tiny = {Float.MIN_VALUE, -0x1p-112f};
    assertThat(roundTrip(16, tiny, left)).containsOnly(0f);
    assertThat(left).startsWith(tiny);
    float[] small = {0x1p-100f, -0x1p-100f};
    assertThat(roundTrip(16, small, left)[0]).isCloseTo(0x1p-100f, within(0x1p-120f));
    float[] huge = {Float.MAX_VALUE, -Float.MAX_VALUE, 0};
    float[] read = roundTrip(16, huge, left);
    assertThat(read[0]).isCloseTo(Float.MAX_VALUE, within(Float.MAX_VALUE * 1e-6f));
    assertThat(read[1]).isEqualTo(-read[0]);
  }

  @ParameterizedTest
  @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
  void aNanOrAnInfinityMakesItsBlockNanAndLeavesNothing(float value) {
    float[] values = new float[48];
    for (int i = 0; i < values.length; i++) {
      values[i] = i + 0.3f;
    }
    values[20] = value;
    values[25] = Float.POSITIVE_INFINITY;
    float[] left = new float[TILE];
    float[] read = roundTrip(16, values, left);
    for (int i = 0; i < values.length; i++) {
      if (i / 16 == 1) {
        assertThat(read[i]).isNaN();
        assertThat(left[i]).isZero();
      } else {
        assertThat(read[i]).isCloseTo(values[i], within(0.2f));
      }
    }
    float[] sum = new float[48];
    new Int8Blocks(16).addTo(sum, 48, place);
    assertThat(sum[20]).isNaN();
    assertThat(sum[0]).isEqualTo(read[0]);
  }
}
