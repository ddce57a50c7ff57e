package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests how long a store that is to be closed waits for a host of which nothing is heard. */
class ClientHostTest {

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** Some time of a clock that may be negative. */
  private static final long ZERO = -Duration.ofSeconds(5).toNanos();

  private static long at(double seconds) {
    return ZERO + Math.round(seconds * 1e9);
  }

  /** Returns the seconds left at 100 s, for a wait that began at {@code start}. */
  private static double left(boolean isThisOne, double heard, double start) {
    ClientHost host = new ClientHost(isThisOne, at(0));
    host.heard(at(heard));
    return host.nanosLeft(PATIENCE, at(start), at(100)) / 1e9;
  }

  @Test
  void aHostThatWasSilentBeforeIsGivenUpAfterASecond() {
    assertThat(left(false, 50, 100)).isEqualTo(1);
    assertThat(left(false, 50, 99.5)).isEqualTo(0.5);
    assertThat(left(false, 50, 98)).isNegative();
  }

  @Test
  void aHostThatWasSilentForAShortTimeHasTheRest() {
    assertThat(left(false, 97, 100)).isEqualTo(7);
    assertThat(left(false, 91.5, 100)).isEqualTo(1.5);
    assertThat(left(false, 90.5, 100)).isEqualTo(1);
  }

  @Test
  void aHostThatIsHeardOfDuringTheWaitHasAllOfIt() {
    assertThat(left(false, 100, 70)).isEqualTo(10);
    assertThat(left(true, 100, 70)).isEqualTo(10);
  }

  @Test
  void theOwnHostNeedNotSendAnythingBeforeTheWait() {
    assertThat(left(true, 50, 100)).isEqualTo(10);
    assertThat(left(true, 50, 95)).isEqualTo(5);
    assertThat(left(true, 50, 89)).isNegative();
  }

  @Test
  void aPatienceOfLessThanASecondIsNotExtended() {
    ClientHost host = new ClientHost(false, at(0));
    assertThat(host.nanosLeft(Duration.ofMillis(200), at(100), at(100)) / 1e9).isEqualTo(0.2);
  }

  @Test
  void aHostHasLeftWithItsLastConnection() {
    ClientHost host = new ClientHost(false, at(0));
    host.connected();
    host.connected();
    assertThat(host.left()).isFalse();
    assertThat(host.left()).isTrue();
  }
}
