package org.sparkcollectives.recorder;

import java.util.List;
import java.util.stream.Collectors;

/** Formats lists of ranks for messages. */
final class Ranks {

  private static final int MOST_NAMED = 16;

  private Ranks() {}

  /** Returns text such as {@code rank 3} or {@code ranks 3, 4 and 9}. */
  static String named(List<Integer> ranks) {
    if (ranks.size() == 1) {
      return "rank " + ranks.get(0);
    }
    if (ranks.size() > MOST_NAMED) {
      return "ranks "
          + join(ranks.subList(0, MOST_NAMED))
          + " and "
          + (ranks.size() - MOST_NAMED)
          + " others";
    }
    return "ranks "
        + join(ranks.subList(0, ranks.size() - 1))
        + " and "
        + ranks.get(ranks.size() - 1);
  }

  private static String join(List<Integer> ranks) {
    return ranks.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }
}
