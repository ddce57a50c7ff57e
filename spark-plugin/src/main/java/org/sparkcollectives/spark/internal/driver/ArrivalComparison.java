package org.sparkcollectives.spark.internal.driver;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.Arrival;

/**
 * Compares when the ranks of a group came to the same collectives: which came last, and which takes
 * longer in its own code than the others. No clock of one rank is compared with that of another.
 *
 * <p>The time between two samples that a rank spends outside of collectives is compared with the
 * median of all ranks, and of two ranks with that of the other. A rank is a straggler if it takes a
 * tenth more in sum, and this is no chance: the sum must be many times its standard error, see
 * {@link #CERTAINTY}. The error is what the excess would scatter by if it were the same part of
 * each interval's own code (a ratio, Cochran, Sampling Techniques, chapter 6), or if it were the
 * same in each interval; the one that fits better counts. The first is needed because programs
 * often do several collectives without any own code between them. Of intervals that are so unequal
 * fewer tell something: their effective number (Kish) must be about {@link #FEWEST}, too. A single
 * long pause, such as one garbage collection, makes the error as large as the sum, and never
 * suffices. The excess must also be a hundredth of all the time that passed, so that programs that
 * do nothing but collectives raise no alarm. To find a rank that has become slow lately, the newest
 * half and quarter of the intervals are looked at, too.
 */
final class ArrivalComparison {

  /** By so much a straggler is slower than the median. */
  static final double THRESHOLD = 0.1;

  /** The fewest intervals that tell something. */
  static final int FEWEST = 8;

  /** So many of equal length are effectively a little fewer, because no two are really equal. */
  private static final double LEAST_EFFECTIVE = FEWEST - 1;

  /**
   * How many standard errors are no chance if there are many intervals. Few intervals tell their
   * error badly, so they need more: eight of a rank that is as fast as the others exceed what they
   * need once in half a million times, twelve or more once in some millions.
   */
  static final double CERTAINTY = 6;

  private static final double RELEVANT = 0.01;

  private final int size;
  private final long[] arrivedLast;
  private final double[] waitedSeconds;
  private final double[] slowness;
  private final boolean[] straggler;
  private long samples;
  private long lastCounted = -1;

  /**
   * An operation whose arrivals were compared.
   *
   * @param row the row that counts it, as rank 0 has it
   * @param last the rank that came last
   * @param seconds how long it took there
   * @param waitedSeconds how long a rank waited for that one, the mean of all ranks
   */
  record Compared(long sequence, int row, int last, double seconds, double waitedSeconds) {}

  /** Creates a comparison of so many ranks. */
  ArrivalComparison(int size) {
    this.size = size;
    this.arrivedLast = new long[size];
    this.waitedSeconds = new double[size];
    this.slowness = new double[size];
    this.straggler = new boolean[size];
  }

  /** Returns in how many operations arrivals have been compared. */
  long samples() {
    return samples;
  }

  /** Returns in how many of them a rank came last. */
  long arrivedLast(int rank) {
    return arrivedLast[rank];
  }

  /** Returns how long the median rank has waited for a rank in these. */
  double waitedSeconds(int rank) {
    return waitedSeconds[rank];
  }

  /** Returns by which part of the median's time a rank is slower; 0 if that is not known. */
  double slowness(int rank) {
    return slowness[rank];
  }

  /** Returns whether a rank is certainly slower. */
  boolean isStraggler(int rank) {
    return straggler[rank];
  }

  /**
   * Compares the newest samples.
   *
   * @param byRank the samples of each rank, oldest first
   * @return the operations that had not been compared before
   */
  List<Compared> compare(List<List<Arrival>> byRank) {
    List<Compared> compared = new ArrayList<>();
    Arrival[][] common = common(byRank);
    int count = common[0].length;
    for (int i = 0; i < count; i++) {
      if (common[0][i].sequence() > lastCounted) {
        compared.add(countArrival(common, i));
      }
    }
    if (count > 0) {
      lastCounted = Math.max(lastCounted, common[0][count - 1].sequence());
    }
    findStragglers(common);
    return compared;
  }

  /** Returns, of each rank, the samples that all ranks have. */
  private Arrival[][] common(List<List<Arrival>> byRank) {
    Map<Long, Integer> known = new HashMap<>();
    for (List<Arrival> each : byRank) {
      each.forEach(arrival -> known.merge(arrival.sequence(), 1, Integer::sum));
    }
    Arrival[][] common = new Arrival[size][];
    for (int rank = 0; rank < size; rank++) {
      common[rank] =
          byRank.get(rank).stream()
              .filter(arrival -> known.get(arrival.sequence()) == size)
              .toArray(Arrival[]::new);
    }
    return common;
  }

  private Compared countArrival(Arrival[][] common, int index) {
    long[] durations = new long[size];
    int last = 0;
    double sum = 0;
    for (int rank = 0; rank < size; rank++) {
      durations[rank] = common[rank][index].durationNanos();
      sum += durations[rank];
      last = durations[rank] < durations[last] ? rank : last;
    }
    long shortest = durations[last];
    Arrays.sort(durations);
    samples++;
    arrivedLast[last]++;
    waitedSeconds[last] += (durations[size / 2] - shortest) / 1e9;
    Arrival first = common[0][index];
    return new Compared(
        first.sequence(), first.row(), last, shortest / 1e9, (sum / size - shortest) / 1e9);
  }

  private void findStragglers(Arrival[][] common) {
    Arrays.fill(slowness, 0);
    Arrays.fill(straggler, false);
    int intervals = common[0].length - 1;
    if (intervals < FEWEST) {
      return;
    }
    double[][] outside = new double[size][intervals];
    for (int rank = 0; rank < size; rank++) {
      for (int i = 0; i < intervals; i++) {
        outside[rank][i] =
            common[rank][i + 1].outsideNanos() - (double) common[rank][i].outsideNanos();
      }
    }
    double[] medians = medians(outside, intervals);
    double[] collectives = collectives(common, intervals);
    for (int rank = 0; rank < size; rank++) {
      // The smaller of two noisy times would be below both of them.
      double[] usual = size == 2 ? outside[1 - rank] : medians;
      for (int from = 0; intervals - from >= FEWEST && !straggler[rank]; ) {
        judge(rank, outside[rank], usual, collectives, from);
        from = intervals - (intervals - from) / 2;
      }
    }
  }

  /** Returns the lower median of the ranks' times in each interval. */
  private double[] medians(double[][] outside, int intervals) {
    double[] medians = new double[intervals];
    double[] column = new double[size];
    for (int i = 0; i < intervals; i++) {
      for (int rank = 0; rank < size; rank++) {
        column[rank] = outside[rank][i];
      }
      Arrays.sort(column);
      medians[i] = column[(size - 1) / 2];
    }
    return medians;
  }

  /** Estimates how long the collectives of each interval took, if nobody was waited for. */
  private double[] collectives(Arrival[][] common, int intervals) {
    double[] shortest = new double[intervals];
    for (int i = 0; i < intervals; i++) {
      long duration = Long.MAX_VALUE;
      for (int rank = 0; rank < size; rank++) {
        duration = Math.min(duration, common[rank][i + 1].durationNanos());
      }
      long steps = common[0][i + 1].sequence() - common[0][i].sequence();
      shortest[i] = (double) duration * steps;
    }
    return shortest;
  }

  /**
   * Judges a rank by the intervals from {@code from} on.
   *
   * @param usual how long the rank's own code would usually take in each interval
   */
  private void judge(int rank, double[] outside, double[] usual, double[] collectives, int from) {
    double expected = 0;
    double expectedSquares = 0;
    double all = 0;
    double excess = 0;
    for (int i = from; i < usual.length; i++) {
      expected += usual[i];
      expectedSquares += square(usual[i]);
      all += usual[i] + collectives[i];
      excess += outside[i] - usual[i];
    }
    double slower = expected > 0 ? excess / expected : 0;
    if (from == 0) {
      slowness[rank] = slower;
    }
    if (slower < THRESHOLD || excess < RELEVANT * all) {
      return;
    }
    int count = usual.length - from;
    double ofRatio = 0;
    double ofMean = 0;
    for (int i = from; i < usual.length; i++) {
      double own = outside[i] - usual[i];
      ofRatio += square(own - slower * usual[i]);
      ofMean += square(own - excess / count);
    }
    double effective = square(expected) / expectedSquares;
    if (isCertain(excess, ofRatio, effective) || isCertain(excess, ofMean, count)) {
      straggler[rank] = true;
      slowness[rank] = slower;
    }
  }

  private static double square(double value) {
    return value * value;
  }

  /**
   * Returns whether a sum is no chance.
   *
   * @param squares the sum of the squares by which its parts differ from what was expected
   * @param intervals how many parts it has
   */
  private static boolean isCertain(double sum, double squares, double intervals) {
    double error = Math.sqrt(squares * intervals / (intervals - 1));
    return intervals >= LEAST_EFFECTIVE
        && sum >= CERTAINTY * (1 + FEWEST / (intervals - 1)) * error;
  }
}
