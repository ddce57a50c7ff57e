package org.sparkcollectives.conformance;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Chooses a small sample of many cases in which each two values that meet in any case meet again:
 * most faults need no more than two causes together.
 *
 * <p>Greedy: it always takes the case that adds the most pairs that are not in the sample yet. The
 * sample is the same for the same cases.
 */
final class Pairwise {

  private Pairwise() {}

  /**
   * Chooses among cases.
   *
   * @param factors the values of a case, which are told apart by their places too
   */
  static <T> List<T> sample(List<T> cases, Function<T, List<?>> factors) {
    List<Map<Object, Integer>> values = new ArrayList<>();
    List<int[]> numbered = new ArrayList<>();
    int[] next = {0};
    for (T each : cases) {
      List<?> own = factors.apply(each);
      int[] numbers = new int[own.size()];
      for (int i = 0; i < numbers.length; i++) {
        if (i == values.size()) {
          values.add(new HashMap<>());
        }
        numbers[i] = values.get(i).computeIfAbsent(own.get(i), value -> next[0]++);
      }
      numbered.add(numbers);
    }
    List<int[]> pairs = numbered.stream().map(numbers -> pairs(numbers, next[0])).toList();
    List<T> sample = new ArrayList<>();
    for (int chosen : cover(pairs)) {
      sample.add(cases.get(chosen));
    }
    return sample;
  }

  private static int[] pairs(int[] numbers, int values) {
    int[] pairs = new int[numbers.length * (numbers.length - 1) / 2];
    int pair = 0;
    for (int i = 0; i < numbers.length; i++) {
      for (int j = i + 1; j < numbers.length; j++) {
        pairs[pair++] = numbers[i] * values + numbers[j];
      }
    }
    return pairs;
  }

  /** Returns which of the sets hold, together, all that any holds. */
  private static List<Integer> cover(List<int[]> sets) {
    BitSet open = new BitSet();
    for (int[] set : sets) {
      for (int member : set) {
        open.set(member);
      }
    }
    List<Integer> chosen = new ArrayList<>();
    while (!open.isEmpty()) {
      int best = 0;
      int most = 0;
      for (int i = 0; i < sets.size(); i++) {
        int brings = 0;
        for (int member : sets.get(i)) {
          brings += open.get(member) ? 1 : 0;
        }
        if (brings > most) {
          most = brings;
          best = i;
        }
      }
      chosen.add(best);
      for (int member : sets.get(best)) {
        open.clear(member);
      }
    }
    return chosen;
  }
}
