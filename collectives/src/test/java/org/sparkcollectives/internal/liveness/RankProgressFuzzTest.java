package org.sparkcollectives.internal.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that any bytes in the store are either the progress of a rank, or refused. */
class RankProgressFuzzTest {

  static Stream<byte[]> seeds() {
    return Stream.of(
        new RankProgress(-1, -1, "").encode(),
        new RankProgress(7, 6, "all-reduce #7 (float32 x 3, SUM)").encode(),
        new RankProgress(6, 7, "").encode(),
        new RankProgress(7, 6, "barrier #7").connectingTo(List.of(3, 0)).encode(),
        new RankProgress(Long.MIN_VALUE, Long.MIN_VALUE, "").encode(),
        new byte[19],
        new byte[0]);
  }

  @MethodSource("seeds")
  @FuzzTest
  void anyBytesAreTheProgressOfARankOrRefused(byte[] bytes) {
    RankProgress progress;
    try {
      progress = RankProgress.decode(bytes);
    } catch (IllegalArgumentException e) {
      assertThat(e).hasMessageContaining("rank");
      return;
    }
    assertThat(progress.lastCompleted()).isBetween(-1L, progress.lastCalled());
    assertThat(RankProgress.decode(progress.encode())).isEqualTo(progress);
  }
}
