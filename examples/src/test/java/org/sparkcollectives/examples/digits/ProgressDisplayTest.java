package org.sparkcollectives.examples.digits;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import org.junit.jupiter.api.Test;
import scala.Option;
import scala.Tuple4;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Tests the display of the epochs that rank 0 adds to an accumulator. */
class ProgressDisplayTest {

  private static SparkListenerExecutorMetricsUpdate heartbeat(long accumulator, Epoch... ended) {
    List<double[]> value = java.util.Arrays.stream(ended).map(Epoch::toArray).toList();
    AccumulableInfo info =
        new AccumulableInfo(
            accumulator,
            Option.apply("epochs"),
            Option.apply(value),
            Option.empty(),
            false,
            true,
            Option.empty());
    return new SparkListenerExecutorMetricsUpdate(
        "1",
        seq(new Tuple4<>((Object) 1L, (Object) 0, (Object) 0, seq(info))),
        Map$.MODULE$.empty());
  }

  private static <T> Seq<T> seq(T element) {
    return CollectionConverters.asScala(List.of(element)).toSeq();
  }

  @Test
  void theLatestEpochOfTheAttemptThatRunsIsShown() {
    try (ProgressDisplay display = new ProgressDisplay(7, 3)) {
      display.onExecutorMetricsUpdate(heartbeat(7));
      assertThat(display.shown()).isZero();
      display.onExecutorMetricsUpdate(heartbeat(7, new Epoch(1, 9, 0), new Epoch(2, 9, 0)));
      display.onExecutorMetricsUpdate(heartbeat(8, new Epoch(3, 9, 0)));
      assertThat(display.shown()).isEqualTo(2);
      display.onExecutorMetricsUpdate(heartbeat(7, new Epoch(1, 0.5, 0.6)));
      assertThat(display.shown()).isEqualTo(1);
    }
  }

  @Test
  void anEpochHasALine() {
    assertThat(ProgressDisplay.line(new Epoch(7, 0.51234, 0.75)))
        .isEqualTo("epoch   7  loss 0.5123  accuracy 0.7500");
  }
}
