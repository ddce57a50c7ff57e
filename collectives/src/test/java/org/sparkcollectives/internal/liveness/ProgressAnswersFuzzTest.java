package org.sparkcollectives.internal.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that any bytes in the store are either the answers of a group's ranks, or refused. */
class ProgressAnswersFuzzTest {

  private static final int SIZE = 4;

  static Stream<byte[]> seeds() {
    RankProgress joined = new RankProgress(7, 6, "all-reduce #7 (float32 x 3, SUM)");
    RankProgress late = new RankProgress(-1, -1, "").connectingTo(List.of(2));
    return Stream.of(
        answers(Map.of(), joined, joined, joined, joined),
        answers(Map.of(), joined, null, null, late),
        answers(Map.of(3, new ThreadStack("thread \"main\" (WAITING)")), late, joined, late, late),
        ProgressAnswers.none(SIZE, "").encode(),
        answers(Map.of(), joined, joined, joined),
        answers(Map.of(), joined, joined, joined, joined, late),
        answers(Map.of(9, new ThreadStack("")), joined, joined, joined, joined),
        new byte[3],
        new byte[0]);
  }

  private static byte[] answers(Map<Integer, ThreadStack> stacks, RankProgress... progress) {
    return new ProgressAnswers(Arrays.asList(progress), stacks, "").encode();
  }

  @MethodSource("seeds")
  @FuzzTest
  void anyBytesAreTheAnswersOfAllRanksOrRefused(byte[] bytes) {
    ProgressAnswers answers;
    try {
      answers = ProgressAnswers.decode(bytes, SIZE);
    } catch (IllegalArgumentException e) {
      assertThat(e).hasMessageContaining("rank");
      return;
    }
    assertThat(answers.progress()).hasSize(SIZE);
    assertThat(ProgressAnswers.decode(answers.encode(), SIZE)).isEqualTo(answers);
  }
}
