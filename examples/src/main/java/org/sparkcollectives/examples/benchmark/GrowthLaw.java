package org.sparkcollectives.examples.benchmark;

import java.util.Locale;

/**
 * How a cost grows with the number of ranks: by which factor it grows with each doubling, and what
 * would grow so. Looks at the upper half of the numbers of ranks, where fixed costs matter least.
 *
 * @param factor from one number of ranks to its double
 */
record GrowthLaw(Kind kind, double factor) {

  /** The fewest numbers of ranks that a law can be told from. */
  static final int FEWEST_POINTS = 3;

  /** The laws, from slow to fast. */
  enum Kind {
    FLAT,
    LOG,
    LINEAR,
    QUADRATIC
  }

  /**
   * Returns the law that is nearest.
   *
   * @param ranks ascending, at least {@value #FEWEST_POINTS}
   * @param costs one for each; more than 0
   */
  static GrowthLaw of(int[] ranks, double[] costs) {
    int first = (ranks.length - 1) / 2;
    int last = ranks.length - 1;
    double doublings = log2(ranks[last]) - log2(ranks[first]);
    double growth = log2(costs[last] / costs[first]) / doublings;
    double ofLogarithm = log2(log2(ranks[last]) / log2(ranks[first])) / doublings;
    // The growth of each law, as a power of the number of ranks.
    double[] laws = {0, ofLogarithm, 1, 2};
    int nearest = 0;
    for (int i = 1; i < laws.length; i++) {
      if (Math.abs(growth - laws[i]) < Math.abs(growth - laws[nearest])) {
        nearest = i;
      }
    }
    return new GrowthLaw(Kind.values()[nearest], Math.pow(2, growth));
  }

  private static double log2(double value) {
    return Math.log(value) / Math.log(2);
  }

  /** Returns the law with its factor, such as {@code log x1.2}. */
  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%s x%.2f", kind.name().toLowerCase(Locale.ROOT), factor);
  }
}
