package org.sparkcollectives.reproducible;

import java.util.Arrays;

/**
 * The exact sums of some neighbouring elements, each number cut at fixed powers of two.
 *
 * <p>The magnitudes of float64 are divided into bins of {@value #WIDTH} bits, at places that depend
 * on no data; three of them hold all 53 bits of a number, wherever it lies in the first. An element
 * has a top bin, the lowest that holds its largest number so far, and keeps three: the part of each
 * number in the top bin and in the two below, each rounded to the nearest multiple of the bin's
 * unit, and nothing of what is left. Parts are added up without rounding, as there are fewer than
 * 2<sup>53</sup> units. If a larger number raises the top, bins at the bottom are dropped. A part
 * in a bin depends only on its number: it is zero in the bins above the number's own. So the sums
 * of the three bins depend only on which numbers were added. (Demmel and Nguyen, 2015; Ahrens,
 * Demmel and Nguyen, 2020.)
 *
 * <p>Sums are kept in units of the top bin: the first array holds whole numbers, the second
 * multiples of 2<sup>-27</sup>, the third of 2<sup>-54</sup>.
 */
final class BinnedBlock {

  /** The elements of a block. */
  static final int LENGTH = 1024;

  /** The most numbers that may be added to an element: more parts could reach 2^53 units. */
  static final int MOST_TERMS = 1 << 27;

  /** The most ranks whose words may be added up. */
  static final int MOST_RANKS = 1 << 13;

  /** The bits of a bin. */
  private static final int WIDTH = 27;

  /** The top bin of an element that has only zeros, and the lowest that there is. */
  private static final byte LOWEST = -37;

  /** The top bin of the largest number. */
  private static final byte HIGHEST = 37;

  /** Each bin's unit, inverted, and the unit of the bin two below. */
  private static final double[] SCALES = powers(-1, 0);

  private static final double[] LOW_UNITS = powers(1, -2);

  private static final double UNIT = 0x1p-27;

  /** The limit of a number in units of its top bin. */
  private static final double ROOM = 0x1p26;

  /** Added and subtracted, they round to multiples of 1, 2^-27 and 2^-54. */
  private static final double ROUND_TOP = 0x1.8p52;

  private static final double ROUND_MIDDLE = ROUND_TOP * UNIT;
  private static final double ROUND_LOW = ROUND_MIDDLE * UNIT;

  /** The bits of the lower of two words, so that {@link #MOST_RANKS} can add theirs. */
  private static final int LOW_BITS = 50;

  private static final long LOW_MASK = (1L << LOW_BITS) - 1;

  private final double[] top;
  private final double[] middle;
  private final double[] low;
  private final double[] scales;
  private final byte[] bins;

  BinnedBlock(int length) {
    top = new double[length];
    middle = new double[length];
    low = new double[length];
    scales = new double[length];
    bins = new byte[length];
    clear();
  }

  private static double[] powers(int sign, int shift) {
    double[] powers = new double[HIGHEST - LOWEST + 1];
    for (int i = 0; i < powers.length; i++) {
      powers[i] = Math.scalb(1.0, WIDTH * (sign * (i + LOWEST) + shift));
    }
    return powers;
  }

  int length() {
    return top.length;
  }

  void clear() {
    Arrays.fill(top, 0);
    Arrays.fill(middle, 0);
    Arrays.fill(low, 0);
    Arrays.fill(bins, LOWEST);
    Arrays.fill(scales, SCALES[0]);
  }

  /** Adds the first elements of {@code numbers}, which are finite. */
  void add(double[] numbers) {
    for (int i = 0; i < top.length; i++) {
      if (Math.abs(numbers[i] * scales[i]) >= ROOM) {
        raise(i, binOf(numbers[i]));
      }
    }
    for (int i = 0; i < top.length; i++) {
      double left = numbers[i] * scales[i];
      double part = left + ROUND_TOP - ROUND_TOP;
      top[i] += part;
      left -= part;
      part = left + ROUND_MIDDLE - ROUND_MIDDLE;
      middle[i] += part;
      left -= part;
      low[i] += left + ROUND_LOW - ROUND_LOW;
    }
  }

  /** Adds what was added to another block of this length. */
  void add(BinnedBlock other) {
    for (int i = 0; i < top.length; i++) {
      raise(i, other.bins[i]);
      switch (bins[i] - other.bins[i]) {
        case 0 -> {
          top[i] += other.top[i];
          middle[i] += other.middle[i];
          low[i] += other.low[i];
        }
        case 1 -> {
          middle[i] += other.top[i] * UNIT;
          low[i] += other.middle[i] * UNIT;
        }
        case 2 -> low[i] += other.top[i] * UNIT * UNIT;
        default -> {} // All is below the lowest bin.
      }
    }
  }

  /** Returns the lowest bin with room for a number. */
  private static int binOf(double number) {
    int exponent = Math.getExponent(number);
    return Math.max(LOWEST, -Math.floorDiv(WIDTH - 2 - exponent, WIDTH));
  }

  private void raise(int element, int higher) {
    int up = higher - bins[element];
    if (up <= 0) {
      return;
    }
    low[element] = up == 1 ? middle[element] * UNIT : up == 2 ? top[element] * UNIT * UNIT : 0;
    middle[element] = up == 1 ? top[element] * UNIT : 0;
    top[element] = 0;
    bins[element] = (byte) higher;
    scales[element] = SCALES[higher - LOWEST];
  }

  /** Writes each element's top bin. */
  void copyBins(byte[] to, int index) {
    System.arraycopy(bins, 0, to, index, bins.length);
  }

  /**
   * Writes each sum as a whole number of units of the lowest of three bins, in two words that may
   * be added up: multiples of 2^50, and what is left.
   *
   * @param tops the top bin of each element from {@code from} on, its own or a higher one
   */
  void encode(byte[] tops, int from, long[] high, long[] rest, int index) {
    for (int i = 0; i < top.length; i++) {
      int down = tops[from + i] - bins[i];
      double first = down == 0 ? top[i] : 0;
      double second = down == 0 ? middle[i] : down == 1 ? top[i] * UNIT : 0;
      double third =
          down == 0 ? low[i] : down == 1 ? middle[i] * UNIT : down == 2 ? top[i] * UNIT * UNIT : 0;
      long units = (long) (second * 0x1p27);
      long sum = ((units & ((1L << (LOW_BITS - WIDTH)) - 1)) << WIDTH) + (long) (third * 0x1p54);
      high[index + i] =
          ((long) first << (2 * WIDTH - LOW_BITS))
              + (units >> (LOW_BITS - WIDTH))
              + (sum >> LOW_BITS);
      rest[index + i] = sum & LOW_MASK;
    }
  }

  /** Writes what two words of {@link #encode}, or sums of such words, stand for. */
  static void decode(
      byte[] tops, int from, long[] high, long[] rest, int index, double[] sums, int length) {
    for (int i = 0; i < length; i++) {
      long upper = high[index + i] + (rest[index + i] >> LOW_BITS);
      long lower = rest[index + i] & LOW_MASK;
      // Of a negative number the magnitude is converted, so that nothing cancels.
      boolean negative = upper < 0;
      if (negative) {
        upper = lower == 0 ? -upper : -upper - 1;
        lower = -lower & LOW_MASK;
      }
      double magnitude =
          (double) (upper >>> Integer.SIZE) * 0x1p82
              + ((double) (upper & 0xffffffffL) * 0x1p50 + (double) lower);
      sums[i] = (negative ? -magnitude : magnitude) * LOW_UNITS[tops[from + i] - LOWEST];
    }
  }
}
