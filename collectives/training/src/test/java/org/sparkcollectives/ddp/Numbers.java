package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Compares many numbers, and takes time to describe only those that are wrong. */
final class Numbers {

  private Numbers() {}

  /** Checks that each number is as close to the expected one. */
  static void assertClose(String what, float[] actual, float[] expected, float tolerance) {
    assertThat(actual).as(what).hasSameSizeAs(expected);
    for (int i = 0; i < expected.length; i++) {
      if (!(Math.abs(actual[i] - expected[i]) <= tolerance)) {
        assertThat(actual[i]).as(what + " [" + i + "]").isCloseTo(expected[i], within(tolerance));
      }
    }
  }
}
