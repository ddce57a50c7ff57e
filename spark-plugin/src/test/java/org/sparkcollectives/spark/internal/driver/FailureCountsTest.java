package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.MetricRegistry;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.Failure;

class FailureCountsTest {

  private final MetricRegistry registry = new MetricRegistry();
  private final FailureCounts counts = new FailureCounts();

  private void fail(String kind) {
    counts.onFailure(new GroupFailure("world", 1, 0, 0, 2, "host", "3", kind, "text", "", ""));
  }

  private Object value(String kind) {
    return registry.getGauges().get("groups.failed." + kind).getValue();
  }

  @Test
  void failedGroupsAreCountedByTheKindOfTheFirstCause() {
    counts.register(registry);
    fail("TIMEOUT");
    fail("EXECUTOR_LOST");
    fail("TIMEOUT");
    fail("a kind of another version");
    assertThat(registry.getGauges()).hasSize(Failure.Kind.values().length);
    assertThat(value("timeout")).isEqualTo(2L);
    assertThat(value("executor_lost")).isEqualTo(1L);
    assertThat(value("exception")).isEqualTo(0L);
  }
}
