package org.sparkcollectives.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PairwiseTest {

  @Test
  void eachTwoValuesMeetInAFewOfManyCases() {
    List<List<Integer>> cases = new ArrayList<>();
    Set<Object> pairs = new HashSet<>();
    for (int i = 0; i < 5 * 5 * 5 * 5; i++) {
      List<Integer> each = List.of(i % 5, i / 5 % 5, i / 25 % 5, i / 125);
      // No case has 0 together with 0 in the first two.
      if (each.get(0) != 0 || each.get(1) != 0) {
        cases.add(each);
        pairs.addAll(pairs(each));
      }
    }
    List<List<Integer>> sample = Pairwise.sample(cases, each -> each);
    for (List<Integer> each : sample) {
      pairs.removeAll(pairs(each));
    }
    assertThat(pairs).isEmpty();
    assertThat(cases).containsAll(sample);
    // The two largest factors alone have that many pairs.
    assertThat(sample).hasSizeBetween(25, 45).doesNotHaveDuplicates();
  }

  @Test
  void noCasesNeedNoSample() {
    assertThat(Pairwise.sample(List.<List<Integer>>of(), each -> each)).isEmpty();
  }

  private static Set<Object> pairs(List<Integer> values) {
    Set<Object> pairs = new HashSet<>();
    for (int i = 0; i < values.size(); i++) {
      for (int j = i + 1; j < values.size(); j++) {
        pairs.add(List.of(i, values.get(i), j, values.get(j)));
      }
    }
    return pairs;
  }
}
