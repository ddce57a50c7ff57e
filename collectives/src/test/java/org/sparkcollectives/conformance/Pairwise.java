package org.sparkcollectives.conformance;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * A small sample of many cases in which each two values that meet in any case meet again: most
 * faults need no more than two causes to come together.
 *
 * <p>Greedy: always the case that brings the most pairs that have not been seen. The same for the
 * same cases.
 */
final class Pairwise {

  private Pairwise() {}

  /** Chooses among {@code cases}, whose values {@code factors} names. */
  static <T> List<T> sample(List<T> cases, Function<T, List<?>> factors) {
    List<Set<Object>> pairs = new ArrayList<>();
    Set<Object> open = new HashSet<>();
    for (T each : cases) {
      Set<Object> own = pairs(factors.apply(each));
      pairs.add(own);
      open.addAll(own);
    }
    List<T> sample = new ArrayList<>();
    while (!open.isEmpty()) {
      int best = 0;
      long most = -1;
      for (int i = 0; i < cases.size(); i++) {
        long brings = pairs.get(i).stream().filter(open::contains).count();
        if (brings > most) {
          most = brings;
          best = i;
        }
      }
      sample.add(cases.get(best));
      open.removeAll(pairs.get(best));
    }
    return sample;
  }

  /** Two values are told apart from others by their factors' places, too. */
  static Set<Object> pairs(List<?> values) {
    Set<Object> pairs = new HashSet<>();
    for (int i = 0; i < values.size(); i++) {
      for (int j = i + 1; j < values.size(); j++) {
        pairs.add(List.of(i, values.get(i), j, values.get(j)));
      }
    }
    return pairs;
  }
}
