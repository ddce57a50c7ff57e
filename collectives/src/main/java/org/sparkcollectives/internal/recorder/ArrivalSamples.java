package org.sparkcollectives.internal.recorder;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.Arrival;
import org.sparkcollectives.GroupStatistics;

/**
 * Samples when a rank came to its collectives: the newest {@value GroupStatistics#MOST_ARRIVALS} of
 * those whose number is sampled. One thread at a time adds.
 *
 * <p>Whether a number is sampled follows from the number and from the interval alone, and what is
 * sampled at an interval is also sampled at each shorter one. So ranks have samples in common even
 * while their intervals differ. Numbers are scattered, because programs repeat the same collectives
 * in the same order: every fourth one might always be a broadcast, which is not sampled.
 *
 * <p>The interval doubles when the samples cover less than {@link #SHORTEST_COVER_NANOS}, and is
 * halved when they cover more than {@link #LONGEST_COVER_NANOS}.
 */
final class ArrivalSamples {

  private static final long SHORTEST_COVER_NANOS = TimeUnit.SECONDS.toNanos(4);
  private static final long LONGEST_COVER_NANOS = TimeUnit.SECONDS.toNanos(32);
  private static final int SIZE = GroupStatistics.MOST_ARRIVALS;

  /** The fractional part of the golden ratio, by which consecutive numbers are scattered evenly. */
  private static final long SCATTER = 0x9E3779B97F4A7C15L;

  private final long[] sequences = new long[SIZE];
  private final int[] rows = new int[SIZE];
  private final long[] durations = new long[SIZE];
  private final long[] outsides = new long[SIZE];
  private final long[] ends = new long[SIZE];

  /** The samples are those from {@code first} on, in a ring. */
  private int first;

  private int count;

  /** The logarithm of the interval. */
  private int power;

  /** Returns whether a collective is sampled at an interval of two to the {@code power}. */
  static boolean isSampled(long sequence, int power) {
    return Long.numberOfLeadingZeros(sequence * SCATTER) >= power;
  }

  /**
   * Adds a collective, if it is to be sampled.
   *
   * @param row the row that counts it
   */
  void add(long sequence, int row, long durationNanos, long outsideNanos, long endNanos) {
    if (!isSampled(sequence, power)) {
      return;
    }
    if (count == SIZE) {
      long cover = endNanos - ends[first];
      if (cover < SHORTEST_COVER_NANOS) {
        power++;
        dropUnsampled();
        add(sequence, row, durationNanos, outsideNanos, endNanos);
        return;
      }
      if (cover > LONGEST_COVER_NANOS && power > 0) {
        power--;
      }
      first = (first + 1) % SIZE;
      count--;
    }
    int at = (first + count) % SIZE;
    sequences[at] = sequence;
    rows[at] = row;
    durations[at] = durationNanos;
    outsides[at] = outsideNanos;
    ends[at] = endNanos;
    count++;
  }

  private void dropUnsampled() {
    int kept = 0;
    for (int i = 0; i < count; i++) {
      int from = (first + i) % SIZE;
      if (isSampled(sequences[from], power)) {
        int to = (first + kept) % SIZE;
        sequences[to] = sequences[from];
        rows[to] = rows[from];
        durations[to] = durations[from];
        outsides[to] = outsides[from];
        ends[to] = ends[from];
        kept++;
      }
    }
    count = kept;
    if (kept == SIZE) {
      // All of them are sampled at the longer interval, too: the oldest makes room.
      first = (first + 1) % SIZE;
      count--;
    }
  }

  long interval() {
    return 1L << power;
  }

  /** Returns the samples, oldest first; they mean nothing if another thread has added meanwhile. */
  List<Arrival> samples() {
    int start = first;
    int known = Math.min(SIZE, count);
    List<Arrival> samples = new ArrayList<>(known);
    for (int i = 0; i < known; i++) {
      int at = (start + i) % SIZE;
      samples.add(new Arrival(sequences[at], rows[at], durations[at], outsides[at]));
    }
    return samples;
  }
}
