package org.sparkcollectives.examples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;

class OperationTest {

  /** Tests that the factors are those of nccl-tests for four ranks. */
  @ParameterizedTest
  @CsvSource({
    "all-reduce, 256, 1.5",
    "reproducible-sum, 256, 1.5",
    "reduce, 256, 1",
    "broadcast, 256, 1",
    "all-gather, 64, 0.75",
    "reduce-scatter, 64, 0.75",
    "all-to-all, 64, 0.75",
    "gather, 64, 0.75",
    "scatter, 64, 0.75",
    "send-recv, 256, 1",
    "barrier, 0, 1"
  })
  void theSizeIsThatOfTheLargerTensor(String label, long count, double factor) {
    Operation operation = Operation.of(label);
    assertThat(operation.count(256, 4)).isEqualTo(count);
    assertThat(operation.elements(count, 4)).isEqualTo(count == 0 ? 0 : 256);
    assertThat(operation.busFactor(4)).isEqualTo(factor);
  }

  @Test
  void sizesThatAreRoundedToTheSameCountAreMeasuredOnce() {
    Plan plan =
        new Plan(
            Operation.ALL_GATHER,
            DType.FLOAT32,
            ReduceOp.Kind.SUM,
            0,
            MemoryKind.HEAP,
            1,
            100,
            2,
            0,
            Duration.ofSeconds(1),
            -1,
            true,
            Duration.ZERO,
            Duration.ZERO,
            false);
    assertThat(plan.counts(4)).containsExactly(1, 2, 4);
  }

  @Test
  void timesAreTheMedianTheShortestAndTheOneThatOneInAHundredExceeds() {
    Plan plan =
        new Plan(
            Operation.ALL_REDUCE,
            DType.FLOAT32,
            ReduceOp.Kind.SUM,
            0,
            MemoryKind.HEAP,
            4,
            4,
            2,
            0,
            Duration.ofSeconds(1),
            -1,
            true,
            Duration.ZERO,
            Duration.ZERO,
            false);
    long[] nanos = new long[200];
    for (int i = 0; i < nanos.length; i++) {
      nanos[i] = 1000L * (nanos.length - i);
    }
    Measurement measured = Measurement.of("ours", plan, 4, 1_000_000, nanos, null, 3L);
    assertThat(measured.medianMicros()).isEqualTo(100.5);
    assertThat(measured.minMicros()).isEqualTo(1);
    assertThat(measured.p90Micros()).isEqualTo(180);
    assertThat(measured.p99Micros()).isEqualTo(198);
    assertThat(measured.algorithmBandwidth()).isCloseTo(4e6 / 100_500, within(1e-9));
    assertThat(measured.busBandwidth()).isCloseTo(1.5 * 4e6 / 100_500, within(1e-9));
    assertThat(measured.wrongElements()).isEqualTo(3);
  }
}
