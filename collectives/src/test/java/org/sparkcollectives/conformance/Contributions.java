package org.sparkcollectives.conformance;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import org.sparkcollectives.BFloat16;
import org.sparkcollectives.DType;
import org.sparkcollectives.Float16;

/**
 * The contributions of the ranks, the same for the same seed in every process. A contribution is a
 * window into a long row of random elements, and the windows begin at different places.
 *
 * <p>Integers are any bits, so that sums and products wrap. Floating-point numbers are between 1/16
 * and 16, of either sign, with some zeros, infinities and NaNs, and some that are too large or too
 * small for half precision once two of them are multiplied. No products leave float32, because the
 * order of the factors would then matter.
 */
final class Contributions {

  /** The seed; set {@code -Dconformance.seed} to run the same elements again. */
  static final long SEED = Long.getLong("conformance.seed", System.nanoTime());

  private static final int STARTS = 4096;

  private static final double[] SPECIAL = {
    0.0, -0.0, 40_000, -40_000, 0x1p-12, -0x1p-12, Double.POSITIVE_INFINITY, Double.NaN
  };

  private static final Map<DType, ByteBuffer> ROWS = new EnumMap<>(DType.class);

  static {
    for (DType dtype : DType.values()) {
      ROWS.put(dtype, row(dtype, new Random(SEED + dtype.ordinal())));
    }
  }

  private Contributions() {}

  /** Returns the elements that a rank contributes as one of its parts. */
  static ByteBuffer of(DType dtype, int rank, int part, int count) {
    int start = (rank * 1031 + part * 97 + 13) % STARTS;
    int width = dtype.bytes();
    return ROWS.get(dtype).slice(start * width, count * width).order(ByteOrder.nativeOrder());
  }

  private static ByteBuffer row(DType dtype, Random random) {
    int count = STARTS + CaseSize.largest(dtype);
    byte[] bits = new byte[count * dtype.bytes()];
    random.nextBytes(bits);
    ByteBuffer row = ByteBuffer.wrap(bits).order(ByteOrder.nativeOrder());
    for (int i = 0; dtype == DType.BOOL && i < count; i++) {
      // Any byte but 0 is true; some of these are neither 0 nor 1.
      row.put(i, random.nextInt(8) == 0 ? bits[i] : (byte) (bits[i] & 1));
    }
    if (dtype.isFloatingPoint() || dtype.isComplex()) {
      int components = dtype.isComplex() ? 2 * count : count;
      for (int i = 0; i < components; i++) {
        put(dtype, row, i, number(random));
      }
    }
    return row;
  }

  private static double number(Random random) {
    if (random.nextInt(32) == 0) {
      return SPECIAL[random.nextInt(SPECIAL.length)];
    }
    double value = Math.scalb(1 + random.nextDouble(), random.nextInt(8) - 4);
    return random.nextBoolean() ? value : -value;
  }

  /** Rounds a number to the type of the components of {@code dtype} and stores it. */
  static void put(DType dtype, ByteBuffer elements, int component, double value) {
    switch (dtype) {
      case FLOAT16 -> elements.putShort(2 * component, Float16.fromFloat((float) value));
      case BFLOAT16 -> elements.putShort(2 * component, BFloat16.fromFloat((float) value));
      case FLOAT32, COMPLEX64 -> elements.putFloat(4 * component, (float) value);
      case FLOAT64, COMPLEX128 -> elements.putDouble(8 * component, value);
      default -> throw new IllegalArgumentException(dtype + " has no floating-point numbers");
    }
  }

  /** Returns the number in a component. */
  static double get(DType dtype, ByteBuffer elements, int component) {
    return switch (dtype) {
      case FLOAT16 -> Float16.toFloat(elements.getShort(2 * component));
      case BFLOAT16 -> BFloat16.toFloat(elements.getShort(2 * component));
      case FLOAT32, COMPLEX64 -> elements.getFloat(4 * component);
      case FLOAT64, COMPLEX128 -> elements.getDouble(8 * component);
      default -> throw new IllegalArgumentException(dtype + " has no floating-point numbers");
    };
  }

  /** Returns the numbers in all components. */
  static double[] numbers(DType dtype, ByteBuffer elements) {
    int width = dtype.isComplex() ? dtype.bytes() / 2 : dtype.bytes();
    double[] numbers = new double[elements.remaining() / width];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = get(dtype, elements, i);
    }
    return numbers;
  }
}
