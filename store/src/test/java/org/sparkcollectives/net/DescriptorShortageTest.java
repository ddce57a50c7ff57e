package org.sparkcollectives.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests when attempts that lack file descriptors are given up. */
class DescriptorShortageTest {

  private final IOException lack = new IOException("Too many open files");

  @Test
  void attemptsAreGivenUpWhenThePatienceIsOver() {
    assertThat(new DescriptorShortage(Duration.ZERO).failed(lack)).isPresent();
    DescriptorShortage patient = new DescriptorShortage(Duration.ofHours(1));
    assertThat(patient.failed(lack)).isEmpty();
    assertThat(patient.failed(lack)).isEmpty();
  }

  @Test
  void otherFailuresAreWorthAnotherAttempt() {
    DescriptorShortage impatient = new DescriptorShortage(Duration.ZERO);
    assertThat(impatient.failed(new IOException("Connection refused"))).isEmpty();
    assertThat(impatient.failed(new IOException())).isEmpty();
  }
}
