package org.sparkcollectives.net;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RefusalLogTest {

  private final RefusalLog log = new RefusalLog("a test");

  @Test
  void aReasonIsToldOncePerHostWhateverThePort() {
    assertThat(log.refused("/10.0.0.1:1000", "noise")).isTrue();
    assertThat(log.refused("/10.0.0.1:1001", "noise")).isFalse();
    assertThat(log.refused("/10.0.0.1:1001", "wrong secret")).isTrue();
    assertThat(log.refused("/10.0.0.2:1000", "noise")).isTrue();
  }

  @Test
  void aHostThatVariesItsReasonsIsToldOnlyAFewTimes() {
    int told = 0;
    for (int i = 0; i < 1000; i++) {
      told += log.refused("/10.0.0.1:" + i, "group " + i + " is not here") ? 1 : 0;
    }
    assertThat(told).isEqualTo(8);
  }
}
