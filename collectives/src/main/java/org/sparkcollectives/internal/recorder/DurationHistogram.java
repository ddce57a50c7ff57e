package org.sparkcollectives.internal.recorder;

/**
 * Counts durations in buckets that grow with the duration: eight for each power of two, so that a
 * bucket's middle is within 7 % of all durations in it. One thread at a time adds; a reader may
 * miss the newest.
 */
final class DurationHistogram {

  private static final int BITS = 3;
  private static final int PER_POWER = 1 << BITS;

  /** Longer durations, beyond 2^42 ns or 73 minutes, count as that. */
  private static final int LARGEST_POWER = 42;

  private static final int BUCKETS = (LARGEST_POWER - BITS + 1) * PER_POWER;

  private final int[] counts = new int[BUCKETS];

  void add(long nanos) {
    counts[bucket(nanos)]++;
  }

  static int bucket(long nanos) {
    if (nanos < PER_POWER) {
      return (int) Math.max(0, nanos);
    }
    int power = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos);
    if (power >= LARGEST_POWER) {
      return BUCKETS - 1;
    }
    int within = (int) (nanos >>> (power - BITS)) & (PER_POWER - 1);
    return (power - BITS + 1) * PER_POWER + within;
  }

  /** Returns the middle of a bucket. */
  static double middle(int bucket) {
    if (bucket < PER_POWER) {
      return bucket;
    }
    int power = bucket / PER_POWER - 1 + BITS;
    double width = Math.pow(2, power - BITS);
    return Math.pow(2, power) + (bucket % PER_POWER + 0.5) * width;
  }

  /** Returns what the part {@code quantile} of all durations took at most, in seconds. */
  double seconds(double quantile) {
    long[] copy = new long[BUCKETS];
    long all = 0;
    for (int i = 0; i < BUCKETS; i++) {
      copy[i] = Integer.toUnsignedLong(counts[i]);
      all += copy[i];
    }
    long left = (long) Math.ceil(quantile * all);
    for (int i = 0; i < BUCKETS && all > 0; i++) {
      left -= copy[i];
      if (left <= 0) {
        return middle(i) / 1e9;
      }
    }
    return 0;
  }
}
