package org.sparkcollectives.internal.recorder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class DurationHistogramTest {

  @Test
  void theMiddleOfABucketIsCloseToAllInIt() {
    for (long nanos = 8; nanos < 1L << 42; nanos = nanos * 101 / 100 + 1) {
      assertThat(DurationHistogram.middle(DurationHistogram.bucket(nanos)))
          .isCloseTo((double) nanos, Percentage.withPercentage(7));
    }
  }

  @Test
  void bucketsGrowWithTheDuration() {
    int before = -1;
    for (long nanos = 0; nanos < 1L << 45; nanos = nanos * 101 / 100 + 1) {
      int bucket = DurationHistogram.bucket(nanos);
      assertThat(bucket).isGreaterThanOrEqualTo(before);
      before = bucket;
    }
    assertThat(DurationHistogram.bucket(Long.MAX_VALUE)).isEqualTo(before);
    assertThat(DurationHistogram.bucket(-1)).isZero();
  }

  @Test
  void quantilesAreThoseOfWhatWasAdded() {
    DurationHistogram histogram = new DurationHistogram();
    assertThat(histogram.seconds(0.5)).isZero();
    for (int i = 1; i <= 1_000; i++) {
      histogram.add(i * 1_000L);
    }
    assertThat(histogram.seconds(0.5)).isCloseTo(500e-6, within(35e-6));
    assertThat(histogram.seconds(0.99)).isCloseTo(990e-6, within(70e-6));
  }
}
