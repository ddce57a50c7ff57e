package org.sparkcollectives.spark.internal.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.Timer;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.spark.internal.protocol.ProcessStatistics;

class CollectivesMetricsTest {

  private final MetricRegistry registry = new MetricRegistry();

  private Object value(String name) {
    return registry.getGauges().get(name).getValue();
  }

  @Test
  void theMetricsAreTheFigures() {
    Figures figures =
        new Figures(
            new OperationTotals(1, 2, 3, 4.5, 5.5, 6, 7.5), 8, new ProcessStatistics(9, 10, 11));
    CollectivesMetrics.register(registry, () -> figures, new Timer());
    assertThat(value("operations")).isEqualTo(1L);
    assertThat(value("failures")).isEqualTo(2L);
    assertThat(value("bytes")).isEqualTo(3L);
    assertThat(value("wait.time")).isEqualTo(4.5);
    assertThat(value("outside.time")).isEqualTo(5.5);
    assertThat(value("operations.pending")).isEqualTo(6L);
    assertThat(value("wait.longest")).isEqualTo(7.5);
    assertThat(value("groups.active")).isEqualTo(8);
    assertThat(value("bytes.sent")).isEqualTo(9L);
    assertThat(value("connections")).isEqualTo(10L);
    assertThat(value("memory.shared")).isEqualTo(11L);
    assertThat(value("bandwidth")).isEqualTo(3 / 4.5);
    assertThat(registry.getTimers()).containsOnlyKeys("store.calls");
  }

  @Test
  void directMemoryIsThatOfTheProcess() {
    CollectivesMetrics.register(registry, () -> Figures.NONE, new Timer());
    long before = (Long) value("memory.direct");
    ByteBuffer taken = ByteBuffer.allocateDirect(64 << 20);
    assertThat((Long) value("memory.direct") - before)
        .isCloseTo(taken.capacity(), within(32L << 20));
    assertThat(value("bandwidth")).as("before the first operation").isEqualTo(0.0);
  }

  @Test
  void aNameThatIsTakenIsLeftOutAndTheOthersAreThere() {
    Gauge<String> theirs = () -> "theirs";
    registry.register("operations", theirs);
    registry.counter("store.calls");
    CollectivesMetrics.register(registry, () -> Figures.NONE, new Timer());
    CollectivesMetrics.register(registry, () -> Figures.NONE, new Timer());
    assertThat(value("operations")).isEqualTo("theirs");
    assertThat(value("bytes")).isEqualTo(0L);
    assertThat(registry.getCounters()).containsOnlyKeys("store.calls");
  }

  @Test
  void aMetricsSystemThatIsNotThereIsNoError() {
    CollectivesMetrics.publish(null, registry);
    assertThat(registry.getNames()).isEmpty();
  }
}
