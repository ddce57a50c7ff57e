package org.sparkcollectives.lightgbm.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class SampledBinsTest {

  @Test
  void fewRowsAreAllInTheSample() {
    assertThat(SampledBins.shares(new long[] {3, 0, 5})).containsExactly(3, 0, 5);
  }

  @Test
  void manyRowsGiveASampleInProportionToEachRanksOwn() {
    int[] shares = SampledBins.shares(new long[] {30_000_000, 10_000_000, 1});

    assertThat(shares).containsExactly(149_999, 49_999, 1);
    assertThat(Arrays.stream(shares).sum()).isLessThanOrEqualTo(SampledBins.SAMPLE);
  }
}
