package org.sparkcollectives.examples.benchmark;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.TreeSet;

/**
 * The plan of a growth table, the same for every rank.
 *
 * @param counts the numbers of ranks; empty for powers of two, and all
 * @param time how long each operation is measured
 * @param warmup how long each operation runs before
 */
record GrowthPlan(List<Integer> counts, Duration time, Duration warmup) implements Serializable {

  /** The fewest ranks that exchange something. */
  static final int FEWEST_RANKS = 2;

  /**
   * Refuses a plan that cannot be measured on so many ranks.
   *
   * @throws IllegalArgumentException saying what to change
   */
  void check(int ranks) {
    if (ranks < FEWEST_RANKS) {
      throw new IllegalArgumentException(
          "A growth table needs 2 ranks or more, and there is room for "
              + ranks
              + ": give Spark more cores, such as --master local-cluster[2,8,1024], or use"
              + " --processes or --threads");
    }
    for (int count : counts) {
      if (count < FEWEST_RANKS || count > ranks) {
        throw new IllegalArgumentException(
            "--counts " + count + " is not one of 2 to " + ranks + ", the number of ranks");
      }
    }
  }

  /** Returns the numbers of ranks to measure, in ascending order. */
  List<Integer> countsOf(int ranks) {
    TreeSet<Integer> all = new TreeSet<>(counts);
    if (all.isEmpty()) {
      for (int count = FEWEST_RANKS; count < ranks; count *= 2) {
        all.add(count);
      }
      all.add(ranks);
    }
    return List.copyOf(all);
  }

  /** Returns how many seconds the operations take at least. */
  long seconds(int ranks) {
    long groups = (long) countsOf(ranks).size() * GrowthCase.ALL.size();
    return time.plus(warmup).multipliedBy(groups).toSeconds();
  }
}
