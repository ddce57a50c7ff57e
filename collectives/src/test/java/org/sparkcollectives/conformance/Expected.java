package org.sparkcollectives.conformance;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.sparkcollectives.DType;

/**
 * The allowed elements of a result: those between two bounds, each rounded to the elements' type.
 * Where the bounds are the same bits, only these are allowed, except that a NaN may be any NaN.
 */
final class Expected {

  private final DType dtype;
  private final ByteBuffer low;
  private final ByteBuffer high;
  private final boolean bounded;
  private final boolean truth;
  private double[] lows;
  private double[] highs;

  private Expected(DType dtype, ByteBuffer low, ByteBuffer high, boolean bounded, boolean truth) {
    this.dtype = dtype;
    this.low = low;
    this.high = high;
    this.bounded = bounded;
    this.truth = truth;
  }

  /** Returns the result of a reduction that has only one. */
  static Expected exactly(DType dtype, ByteBuffer elements) {
    return new Expected(dtype, elements, elements, false, false);
  }

  /** Returns the result of a reduction of floating-point numbers. */
  static Expected between(DType dtype, ByteBuffer low, ByteBuffer high) {
    return new Expected(dtype, low, high, true, false);
  }

  /**
   * Returns these elements, moved; a boolean that is a byte other than 0 may become 1 on the way.
   */
  static Expected moved(DType dtype, ByteBuffer elements) {
    return new Expected(dtype, elements, elements, false, dtype == DType.BOOL);
  }

  /** Returns what is wrong with the first wrong element, or null. */
  String difference(ByteBuffer actual) {
    if (actual.remaining() != low.remaining()) {
      return "there are " + actual.remaining() + " bytes, not " + low.remaining();
    }
    // This is the fast path, for all but sums whose bits depend on the order.
    int from = low.mismatch(actual);
    if (from < 0) {
      return null;
    }
    int width = dtype.isComplex() ? dtype.bytes() / 2 : dtype.bytes();
    int first = firstThatDiffers(actual, from / width, width);
    return first < 0
        ? null
        : (dtype.isComplex() ? "component " : "element ")
            + first
            + " is "
            + text(actual, first, width)
            + ", not "
            + text(low, first, width)
            + " to "
            + text(high, first, width);
  }

  private int firstThatDiffers(ByteBuffer actual, int from, int width) {
    if (bounded) {
      decode();
    }
    for (int i = from; i < actual.remaining() / width; i++) {
      if (bounded) {
        double value = Contributions.get(dtype, actual, i);
        if (lows[i] < value && value < highs[i]) {
          continue;
        }
      }
      if (!fits(actual, i, width)) {
        return i;
      }
    }
    return -1;
  }

  /** Decodes the bounds once, because many results are compared with them. */
  private synchronized void decode() {
    if (lows == null) {
      highs = Contributions.numbers(dtype, high);
      lows = Contributions.numbers(dtype, low);
    }
  }

  private boolean fits(ByteBuffer actual, int i, int width) {
    long bits = bits(actual, i, width);
    long least = bits(low, i, width);
    boolean exact = least == bits(high, i, width);
    if (exact && bits == least) {
      return true;
    }
    if (dtype.isFloatingPoint() || dtype.isComplex()) {
      double value = Contributions.get(dtype, actual, i);
      double lowest = Contributions.get(dtype, low, i);
      return exact
          ? Double.isNaN(lowest) && Double.isNaN(value)
          : lowest <= value && value <= Contributions.get(dtype, high, i);
    }
    return truth && (bits != 0) == (least != 0);
  }

  private static long bits(ByteBuffer elements, int i, int width) {
    return switch (width) {
      case Byte.BYTES -> elements.get(i);
      case Short.BYTES -> elements.getShort(i * width);
      case Integer.BYTES -> elements.getInt(i * width);
      default -> elements.getLong(i * width);
    };
  }

  private String text(ByteBuffer elements, int i, int width) {
    if (dtype.isFloatingPoint() || dtype.isComplex()) {
      return String.valueOf(Contributions.get(dtype, elements, i));
    }
    byte[] bytes = new byte[width];
    elements.get(i * width, bytes);
    return "0x" + HexFormat.of().formatHex(bytes);
  }
}
