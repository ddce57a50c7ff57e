package org.sparkcollectives.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds the known name that a user may have meant by an unknown one. */
public final class NearestName {

  private NearestName() {}

  /**
   * Returns the known name that is the fewest edits away from {@code name}: an edit inserts, drops
   * or replaces a letter, or swaps two neighbours. Case and the characters {@code _ - .} do not
   * count. Empty if even the nearest differs in more than a third of its letters, of those after
   * the words and dots with which both names begin.
   */
  public static Optional<String> of(String name, Collection<String> known) {
    return known.stream()
        .filter(each -> isNear(name, each))
        .min(
            Comparator.comparingInt((String each) -> edits(letters(name), letters(each)))
                .thenComparing(Comparator.naturalOrder()));
  }

  /** Returns {@code . Did you mean X?} for the end of an error; empty if none is near. */
  public static String question(String name, Collection<String> known) {
    return of(name, known).map(nearest -> ". Did you mean " + nearest + "?").orElse("");
  }

  private static String letters(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[_.-]", "");
  }

  private static boolean isNear(String name, String known) {
    int same = 0;
    for (int i = 0; i < Math.min(name.length(), known.length()); i++) {
      if (name.charAt(i) != known.charAt(i)) {
        break;
      }
      same = name.charAt(i) == '.' ? i + 1 : same;
    }
    String given = letters(name.substring(same));
    String other = letters(known.substring(same));
    return edits(given, other) <= Math.max(given.length(), other.length()) / 3;
  }

  /** Returns the distance of Damerau and Levenshtein in which no letter is edited twice. */
  private static int edits(String from, String to) {
    int[][] distance = new int[from.length() + 1][to.length() + 1];
    for (int i = 0; i <= from.length(); i++) {
      for (int j = 0; j <= to.length(); j++) {
        if (i == 0 || j == 0) {
          distance[i][j] = i + j;
          continue;
        }
        int replaced = from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1;
        int least = Math.min(distance[i - 1][j], distance[i][j - 1]) + 1;
        least = Math.min(least, distance[i - 1][j - 1] + replaced);
        boolean swapped =
            i > 1
                && j > 1
                && from.charAt(i - 1) == to.charAt(j - 2)
                && from.charAt(i - 2) == to.charAt(j - 1);
        distance[i][j] = swapped ? Math.min(least, distance[i - 2][j - 2] + 1) : least;
      }
    }
    return distance[from.length()][to.length()];
  }
}
