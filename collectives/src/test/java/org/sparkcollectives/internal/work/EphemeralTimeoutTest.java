package org.sparkcollectives.internal.work;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class EphemeralTimeoutTest {

  private final EphemeralTimeout timeout = new EphemeralTimeout();

  private static Duration seconds(long seconds) {
    return Duration.ofSeconds(seconds);
  }

  @Test
  void operationsGetNothingMoreUnlessTheTimeoutIsExtended() {
    assertThat(timeout.take().duration()).isZero();
  }

  @Test
  void allThatBeginUntilTheFirstCompletesGetTheExtension() {
    timeout.extend(seconds(10));
    EphemeralTimeout.Extension first = timeout.take();
    EphemeralTimeout.Extension second = timeout.take();
    assertThat(first.duration()).isEqualTo(seconds(10));
    assertThat(second.duration()).isEqualTo(seconds(10));
    timeout.giveBack(second);
    assertThat(timeout.take().duration()).isEqualTo(seconds(10));
    timeout.giveBack(first);
    assertThat(timeout.take().duration()).isZero();
  }

  @Test
  void extensionsAddUpAndEndOneByOne() {
    timeout.extend(seconds(10));
    EphemeralTimeout.Extension first = timeout.take();
    timeout.extend(seconds(5));
    EphemeralTimeout.Extension second = timeout.take();
    assertThat(second.duration()).isEqualTo(seconds(15));
    timeout.giveBack(first);
    assertThat(timeout.take().duration()).isEqualTo(seconds(5));
    timeout.giveBack(second);
    assertThat(timeout.take().duration()).isZero();
  }
}
