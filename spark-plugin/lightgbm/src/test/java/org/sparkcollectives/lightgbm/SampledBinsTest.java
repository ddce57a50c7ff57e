package org.sparkcollectives.lightgbm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.jna.Memory;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.testing.GroupRuns;

class SampledBinsTest {

  private static SampledBins bins(long... rows) {
    return SampledBins.of(Map.of(), rows);
  }

  @Test
  void fewRowsAreAllInTheSample() {
    assertThat(bins(3, 0, 5).shares()).containsExactly(3, 0, 5);
    assertThat(bins(3, 0, 5).isPart()).isFalse();
  }

  @Test
  void manyRowsGiveASampleInProportionToEachRanksOwn() {
    int[] shares = bins(30_000_000, 10_000_000, 1).shares();

    assertThat(shares).containsExactly(149_999, 49_999, 1);
    assertThat(Arrays.stream(shares).sum()).isLessThanOrEqualTo(SampledBins.SAMPLE);
  }

  @Test
  void theSampleIsAsLargeAsTheParameterSays() {
    SampledBins bins =
        SampledBins.of(Map.of("bin_construct_sample_cnt", "30"), new long[] {400, 200});

    assertThat(bins.shares()).containsExactly(20, 10);
    assertThat(bins.isPart()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "many", "9999999999"})
  void aSizeOfTheSampleThatIsNoneIsRefused(String size) {
    assertThatThrownBy(
            () -> SampledBins.of(Map.of("bin_construct_sample_cnt", size), new long[] {1}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("bin_construct_sample_cnt is " + size);
  }

  @Test
  void aSampleOfMoreValuesThanAnArrayHoldsIsCounted() {
    int columns = 10_738;
    SampledBins bins = bins(400_000, 400_000);

    assertThat(SampledBins.bytes(bins.shares(), columns))
        .isEqualTo(200_000L * 8 * columns)
        .isGreaterThan(8L * Integer.MAX_VALUE);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 1000, 100_000})
  void everyRankGetsTheSampledRowsOfAllInOrder(int columns) {
    int[] sizes = {7, 1, columns == 1 ? 300_000 : 40};
    List<double[]> samples =
        GroupRuns.run(
            sizes.length,
            GroupOptions.defaults().withTimeout(Duration.ofMinutes(2)),
            group -> {
              TrainingRows own = rows(group.rank(), sizes[group.rank()], columns);
              SampledBins bins = bins(sizes[0], sizes[1], sizes[2]);
              try (Memory sample = bins.sample(group, own)) {
                return firstColumn(sample, columns);
              }
            });

    for (double[] sample : samples) {
      assertThat(sample).isEqualTo(samples.get(0));
    }
    double[] sample = samples.get(0);
    int[] shares = bins(sizes[0], sizes[1], sizes[2]).shares();
    int at = 0;
    for (int rank = 0; rank < sizes.length; rank++) {
      double[] part = Arrays.copyOfRange(sample, at, at + shares[rank]);
      assertThat(part).isSorted().doesNotHaveDuplicates();
      assertThat(part[0]).isGreaterThanOrEqualTo(1e6 * rank);
      assertThat(part[part.length - 1]).isLessThan(1e6 * rank + sizes[rank]);
      at += shares[rank];
    }
    assertThat(at).isEqualTo(sample.length);
  }

  private static double[] firstColumn(Memory sample, int columns) {
    long rowBytes = (long) Double.BYTES * columns;
    return LongStream.range(0, sample.size() / rowBytes)
        .mapToDouble(row -> sample.getDouble(row * rowBytes))
        .toArray();
  }

  /** Rows whose first column is their number, after a million for each rank. */
  private static TrainingRows rows(int rank, int count, int columns) {
    TrainingRows rows = new TrainingRows(columns);
    double[] row = new double[columns];
    for (int i = 0; i < count; i++) {
      row[0] = 1e6 * rank + i;
      rows.add(row, i);
    }
    return rows;
  }
}
