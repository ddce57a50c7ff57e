package org.sparkcollectives.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.ForkedJvm;
import org.sparkcollectives.testing.RankProcesses;

/** Tests all operations among ranks that are processes, which meet at a TCP address. */
class ForkedConformanceTest {

  /** The options of seven short-lived JVMs on a few cores, which save time to start. */
  private static final List<String> OPTIONS =
      List.of(
          "-Xmx256m",
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1",
          "-Dconformance.seed=" + Contributions.SEED);

  /**
   * The time for a line: seven processes take turns on two cores, and the longest line has 140
   * cases for all of them.
   */
  private static final Duration LINE_LIMIT = Duration.ofMinutes(5);

  @Test
  void aSampleOfTheCasesConformsAmongProcesses() throws Exception {
    assertConforms("sample");
  }

  @Tag("full")
  @Test
  void everyCaseConformsAmongProcesses() throws Exception {
    assertConforms("all");
  }

  private static void assertConforms(String which) throws Exception {
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort();
    List<ForkedJvm> ranks = new ArrayList<>();
    try {
      for (int rank = 0; rank < ConformanceRank.WORLD; rank++) {
        ranks.add(
            ForkedJvm.start(OPTIONS, ConformanceRank.class, String.valueOf(rank), url, which));
      }
      for (String line : ConformanceRank.lines(ConformanceRank.WORLD)) {
        ranks.get(0).awaitOutput(line, LINE_LIMIT);
      }
      for (ForkedJvm rank : ranks) {
        assertThat(rank.exitStatus()).as(rank.output()).isZero();
      }
      assertThatRanksAgree(ranks.stream().map(ForkedJvm::output).toList());
    } finally {
      ranks.forEach(ForkedJvm::close);
    }
  }

  private static void assertThatRanksAgree(List<String> outputs) {
    for (int size : ConformanceCase.WORLDS) {
      for (String line : ConformanceRank.lines(size)) {
        String first = rest(outputs.get(0), line);
        for (String output : outputs.subList(0, size)) {
          assertThat(rest(output, line)).as(line).isEqualTo(first);
        }
      }
    }
  }

  private static String rest(String output, String line) {
    return output
        .lines()
        .filter(each -> each.startsWith(line))
        .findFirst()
        .orElseThrow(() -> new AssertionError("\"" + line + "\" is not in " + output));
  }
}
