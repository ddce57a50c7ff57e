package org.sparkcollectives.spi.tensor;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * Rounds tiles of floats to halves in loops that HotSpot vectorizes, whatever the floats are. It
 * vectorizes no loop that asks a float for its bits, nor one with branches: so the bits are copied
 * to integers first, and masks select what holds for normal and subnormal numbers, infinities and
 * NaNs. A mask is the sign of a difference, shifted over all bits.
 */
final class HalfRounding {

  private static final int FLOAT_INFINITY = 0x7f800000;
  private static final int SIGN = 0x8000;
  private static final int INFINITY = 0x7c00;
  private static final int QUIET = 0x200;

  /** The fraction bits that a half has less than a float. */
  private static final int SHIFT = 13;

  /** The largest float that is rounded to a finite half. */
  private static final int LARGEST = Float.floatToRawIntBits(65520f) - 1;

  /** All below are subnormal halves, whose last bit is worth as much as that of 0.5. */
  private static final int SMALLEST_NORMAL = Float.floatToRawIntBits(0x1p-14f);

  private static final int HALF = Float.floatToRawIntBits(0.5f);

  /** Lowers the exponent by the difference of the biases, and rounds up where that is nearer. */
  private static final int ROUNDING = (1 << (SHIFT - 1)) - 1 - (112 << 23);

  private static final int IDLE = 16;

  /** Scratch arrays that are not in use. They belong to no thread and no class loader. */
  private static final ArrayBlockingQueue<Copies> POOL = new ArrayBlockingQueue<>(IDLE);

  private static final class Copies {
    final FloatBuffer floats;
    final IntBuffer ints;
    final int[] bits = new int[TilePool.LENGTH];
    final int[] sumBits = new int[TilePool.LENGTH];
    final float[] sums = new float[TilePool.LENGTH];

    Copies() {
      ByteBuffer bytes =
          ByteBuffer.allocate(TilePool.LENGTH * Float.BYTES).order(ByteOrder.nativeOrder());
      this.floats = bytes.asFloatBuffer();
      this.ints = bytes.asIntBuffer();
    }

    void toBits(float[] from, int index, int[] to, int length) {
      floats.put(0, from, index, length);
      ints.get(0, to, 0, length);
    }
  }

  private HalfRounding() {}

  private static Copies borrow() {
    Copies copies = POOL.poll();
    return copies == null ? new Copies() : copies;
  }

  static void toFloat16(float[] floats, int index, short[] halves, int length) {
    Copies copies = borrow();
    copies.toBits(floats, index, copies.bits, length);
    System.arraycopy(floats, index, copies.sums, 0, length);
    addHalf(copies.sums, length);
    copies.toBits(copies.sums, 0, copies.sumBits, length);
    roundFinite(copies.bits, copies.sumBits, length);
    addSpecial(copies.bits, copies.sumBits, length);
    toShorts(copies.bits, halves, length);
    POOL.offer(copies);
  }

  /** Adds 0.5 to the magnitudes, which rounds those of subnormal halves. */
  private static void addHalf(float[] floats, int length) {
    for (int i = 0; i < length; i++) {
      floats[i] = Math.abs(floats[i]) + 0.5f;
    }
  }

  /**
   * Rounds numbers as if there were no infinities and NaNs.
   *
   * @param sumBits those of the magnitudes plus 0.5; become the halves without their signs
   */
  private static void roundFinite(int[] bits, int[] sumBits, int length) {
    for (int i = 0; i < length; i++) {
      int magnitude = bits[i] & Integer.MAX_VALUE;
      int isSubnormal = (magnitude - SMALLEST_NORMAL) >> 31;
      // A carry out of the fraction propagates into the exponent.
      int odd = (magnitude >> SHIFT) & 1;
      int half = (magnitude + ROUNDING + odd) >> SHIFT;
      sumBits[i] = (half & ~isSubnormal) | ((sumBits[i] - HALF) & isSubnormal);
    }
  }

  /** Adds signs, infinities and NaNs; a loop of its own, as HotSpot vectorizes none much longer. */
  private static void addSpecial(int[] bits, int[] magnitudes, int length) {
    for (int i = 0; i < length; i++) {
      int number = bits[i];
      int magnitude = number & Integer.MAX_VALUE;
      int isInfinite = (LARGEST - magnitude) >> 31;
      int isNan = (FLOAT_INFINITY - magnitude) >> 31;
      int half = (magnitudes[i] & ~isInfinite) | (INFINITY & isInfinite);
      half |= isNan & (QUIET | ((magnitude >> SHIFT) & (INFINITY - 1)));
      bits[i] = half | ((number >> 16) & SIGN);
    }
  }

  static void toBFloat16(float[] floats, int index, short[] halves, int length) {
    Copies copies = borrow();
    copies.toBits(floats, index, copies.bits, length);
    roundToBFloat16(copies.bits, length);
    toShorts(copies.bits, halves, length);
    POOL.offer(copies);
  }

  private static void roundToBFloat16(int[] bits, int length) {
    for (int i = 0; i < length; i++) {
      int isNan = (FLOAT_INFINITY - (bits[i] & Integer.MAX_VALUE)) >> 31;
      int odd = (bits[i] >> 16) & 1;
      bits[i] = ((bits[i] + ((0x7fff + odd) & ~isNan)) >> 16) | (0x40 & isNan);
    }
  }

  private static void toShorts(int[] bits, short[] halves, int length) {
    for (int i = 0; i < length; i++) {
      halves[i] = (short) bits[i];
    }
  }
}
