package org.sparkcollectives.ddp;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Turns blocks of floats into bytes with one scale for each block, and back. A byte q stands for q
 * times the scale, which is the largest magnitude of the block divided by 127. The scale is NaN or
 * infinite where the block has such an element, and then every element of the block is read as NaN.
 *
 * <p>Works on tiles, from the first element on, because HotSpot vectorizes a loop only if it
 * indexes all arrays alike. Not thread-safe.
 */
final class Int8Blocks {

  private static final float LARGEST = 127;

  /** A block whose largest magnitude is this or less becomes zeros: 127 / it would overflow. */
  private static final float NOTHING = 0x1p-110f;

  /** Added to a float of less magnitude than 2^22, it leaves no place for a fraction. */
  private static final float ROUNDING = 0x1.8p23f;

  private final int block;
  private final float[] levels = new float[FloatElements.TILE];

  /**
   * Creates the conversion.
   *
   * @param block how many neighbours share a scale, at most {@link FloatElements#TILE}
   */
  Int8Blocks(int block) {
    this.block = block;
  }

  /** Returns how many elements of a tile are used: whole blocks. */
  int tile() {
    return FloatElements.TILE / block * block;
  }

  /**
   * Where bytes and scales are.
   *
   * @param bytes both; as a buffer in little-endian order
   * @param codes where the first byte of a tile is
   * @param scales where its first scale is
   */
  record Place(ByteBuffer bytes, int codes, int scales) {}

  /** Returns an array as the memory of places. */
  static ByteBuffer memory(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Writes the first elements of a tile as bytes.
   *
   * @param left becomes what the bytes leave out; 0 in a block with a NaN or an infinity
   */
  void encode(float[] tile, int length, float[] left, Place to) {
    for (int from = 0, index = 0; from < length; from += block, index++) {
      int end = Math.min(from + block, length);
      float largest = largest(tile, from, end);
      float scale = scale(largest);
      float inverse = largest <= NOTHING ? 0 : LARGEST / largest;
      to.bytes().putFloat(to.scales() + index * Float.BYTES, scale);
      for (int i = from; i < end; i++) {
        levels[i] = tile[i] * inverse + ROUNDING - ROUNDING;
      }
      for (int i = from; i < end; i++) {
        left[i] = tile[i] - levels[i] * scale;
      }
      if (!Float.isFinite(scale)) {
        Arrays.fill(left, from, end, 0);
      }
    }
    byte[] codes = to.bytes().array();
    int at = to.codes();
    for (int i = 0; i < length; i++) {
      codes[at + i] = (byte) (int) levels[i];
    }
  }

  private static float scale(float largest) {
    float scale = largest <= NOTHING ? 0 : largest / LARGEST;
    boolean overflows = scale * LARGEST > Float.MAX_VALUE && largest <= Float.MAX_VALUE;
    return overflows ? Math.nextDown(scale) : scale;
  }

  /** Returns the largest magnitude: of bits, because so a NaN is larger than an infinity. */
  private static float largest(float[] tile, int from, int end) {
    int largest = 0;
    for (int i = from; i < end; i++) {
      largest = Math.max(largest, Float.floatToRawIntBits(tile[i]) & Integer.MAX_VALUE);
    }
    return Float.intBitsToFloat(largest);
  }

  /** Adds what bytes stand for to the first elements of a tile. */
  void addTo(float[] tile, int length, Place from) {
    byte[] codes = from.bytes().array();
    for (int begin = 0, index = 0; begin < length; begin += block, index++) {
      int end = Math.min(begin + block, length);
      float scale = from.bytes().getFloat(from.scales() + index * Float.BYTES);
      int at = from.codes();
      for (int i = begin; i < end; i++) {
        tile[i] += codes[at + i] * scale;
      }
    }
  }

  /** Sets the first elements of a tile to what bytes stand for, divided by a number. */
  void decode(float[] tile, int length, double divisor, Place from) {
    byte[] codes = from.bytes().array();
    for (int begin = 0, index = 0; begin < length; begin += block, index++) {
      int end = Math.min(begin + block, length);
      float scale = from.bytes().getFloat(from.scales() + index * Float.BYTES);
      float share = (float) (scale / divisor);
      int at = from.codes();
      for (int i = begin; i < end; i++) {
        tile[i] = codes[at + i] * share;
      }
    }
  }
}
