package org.sparkcollectives.examples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RankSpreadTest {

  private static final RankSpread TWO_HOSTS =
      new RankSpread(
          List.of("a", "a", "a", "a", "b", "b", "b", "b"),
          List.of("p", "p", "q", "q", "r", "r", "r", "r"));

  @Test
  void ranksAreSpreadOverHostsAndThenOverProcesses() {
    assertThat(TWO_HOSTS.choose(2)).containsExactly(0, 4);
    assertThat(TWO_HOSTS.choose(4)).containsExactly(0, 2, 4, 5);
    assertThat(TWO_HOSTS.choose(6)).containsExactly(0, 1, 2, 4, 5, 6);
    assertThat(TWO_HOSTS.choose(8)).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
  }

  @Test
  void placesAreCounted() {
    assertThat(TWO_HOSTS.hostsOf(new int[] {0, 2})).isOne();
    assertThat(TWO_HOSTS.processesOf(new int[] {0, 2})).isEqualTo(2);
    assertThat(TWO_HOSTS.processesOf(new int[] {0, 1, 4})).isEqualTo(2);
  }

  @Test
  void oneRankSpeaksForEachProcess() {
    int[] ranks = {0, 1, 3, 5};
    assertThat(TWO_HOSTS.isFirstOfProcess(0, ranks)).isTrue();
    assertThat(TWO_HOSTS.isFirstOfProcess(1, ranks)).isFalse();
    assertThat(TWO_HOSTS.isFirstOfProcess(3, ranks)).isTrue();
    assertThat(TWO_HOSTS.isFirstOfProcess(5, ranks)).isTrue();
    assertThat(TWO_HOSTS.isFirstOfProcess(4, ranks)).as("not among them").isFalse();
  }
}
