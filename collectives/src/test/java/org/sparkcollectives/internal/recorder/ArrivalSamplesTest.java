package org.sparkcollectives.internal.recorder;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.Arrival;

class ArrivalSamplesTest {

  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  private static List<Long> numbers(ArrivalSamples samples) {
    return samples.samples().stream().map(Arrival::sequence).toList();
  }

  @Test
  void fewCollectivesAreAllSampled() {
    ArrivalSamples samples = new ArrivalSamples();
    for (int i = 0; i < 200; i++) {
      samples.add(i, 0, 1, 1, i * 200L * MILLI);
    }
    assertThat(samples.interval()).isEqualTo(1);
    assertThat(numbers(samples)).hasSize(64).startsWith(136L).endsWith(199L);
  }

  @Test
  void theIntervalGrowsUntilTheSamplesCoverSeconds() {
    ArrivalSamples samples = new ArrivalSamples();
    for (int i = 0; i < 100_000; i++) {
      samples.add(i, 0, 1, 1, i * MILLI);
    }
    assertThat(samples.interval()).isBetween(64L, 256L);
    List<Long> numbers = numbers(samples);
    assertThat(numbers).hasSizeGreaterThan(20).isSorted();
    // So many samples, each for about 64 ms or more.
    assertThat(numbers.get(numbers.size() - 1) - numbers.get(0)).isGreaterThan(2_000);
  }

  @Test
  void theIntervalShrinksWhenCollectivesBecomeRare() {
    ArrivalSamples samples = new ArrivalSamples();
    int number = 0;
    for (; number < 100_000; number++) {
      samples.add(number, 0, 1, 1, number * MILLI);
    }
    long before = samples.interval();
    long now = number * MILLI;
    for (int i = 0; i < 20_000; i++) {
      now += 100 * MILLI;
      samples.add(number++, 0, 1, 1, now);
    }
    assertThat(samples.interval()).isLessThan(before / 8);
  }

  @Test
  void ranksWithDifferentIntervalsHaveSamplesInCommon() {
    ArrivalSamples one = new ArrivalSamples();
    ArrivalSamples other = new ArrivalSamples();
    for (int i = 0; i < 20_000; i++) {
      one.add(i, 0, 1, 1, i * MILLI);
      other.add(i, 0, 1, 1, i * MILLI / 2);
    }
    assertThat(one.interval()).isNotEqualTo(other.interval());
    Set<Long> common = new HashSet<>(numbers(one));
    common.retainAll(numbers(other));
    assertThat(common).hasSizeGreaterThan(10);
  }

  @Test
  void aCollectiveThatRepeatsIsSampledWhateverItsPlaceInTheSequence() {
    for (int period = 2; period <= 16; period++) {
      for (int place = 0; place < period; place++) {
        int sampled = 0;
        for (int i = 0; i < 1_000; i++) {
          sampled += ArrivalSamples.isSampled((long) i * period + place, 5) ? 1 : 0;
        }
        assertThat(sampled).as("number %d of every %d", place, period).isBetween(20, 45);
      }
    }
  }
}
