package org.sparkcollectives.internal.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class HeartbeatAgeTest {

  private final HeartbeatAge age = new HeartbeatAge(Duration.ofSeconds(2));

  private Duration at(int seconds, long beat) {
    return age.observe(beat, Duration.ofSeconds(seconds).toNanos());
  }

  @Test
  void theTimeBetweenLooksWithoutChangeAddsUp() {
    assertThat(at(10, 7)).isZero();
    assertThat(at(11, 7)).isEqualTo(Duration.ofSeconds(1));
    assertThat(at(13, 7)).isEqualTo(Duration.ofSeconds(3));
  }

  @Test
  void anyChangeIsANewHeartbeat() {
    at(10, 7);
    at(12, 7);
    assertThat(at(13, 6)).isZero();
    assertThat(at(14, 6)).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void theTimeInWhichNobodyLookedCountsAsOneStep() {
    at(10, 7);
    assertThat(at(3_600, 7)).isEqualTo(Duration.ofSeconds(2));
  }
}
