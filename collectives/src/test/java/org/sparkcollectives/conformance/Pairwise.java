package org.sparkcollectives.conformance;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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
    Map<Object, Integer> numbers = new HashMap<>();
    List<int[]> pairs = new ArrayList<>();
    for (T each : cases) {
      pairs.add(
          pairs(factors.apply(each)).stream()
              .mapToInt(pair -> numbers.computeIfAbsent(pair, one -> numbers.size()))
              .toArray());
    }
    BitSet open = new BitSet();
    open.set(0, numbers.size());
    List<T> sample = new ArrayList<>();
    while (!open.isEmpty()) {
      int best = 0;
      for (int i = 1; i < pairs.size(); i++) {
        if (count(open, pairs.get(i)) > count(open, pairs.get(best))) {
          best = i;
        }
      }
      sample.add(cases.get(best));
      for (int pair : pairs.get(best)) {
        open.clear(pair);
      }
    }
    return sample;
  }

  private static int count(BitSet open, int[] pairs) {
    int count = 0;
    for (int pair : pairs) {
      count += open.get(pair) ? 1 : 0;
    }
    return count;
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
