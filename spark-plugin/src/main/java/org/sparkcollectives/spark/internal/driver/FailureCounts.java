package org.sparkcollectives.spark.internal.driver;

import com.codahale.metrics.MetricRegistry;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.sparkcollectives.Failure;
import org.sparkcollectives.spark.internal.metrics.CollectivesMetrics;

/** Counts the groups that have failed, by the kind of the first cause. */
final class FailureCounts implements StatisticsListener {

  private final Map<Failure.Kind, LongAdder> counts = new EnumMap<>(Failure.Kind.class);

  FailureCounts() {
    for (Failure.Kind kind : Failure.Kind.values()) {
      counts.put(kind, new LongAdder());
    }
  }

  /** Registers a gauge of each kind, such as {@code groups.failed.executor_lost}. */
  void register(MetricRegistry registry) {
    counts.forEach(
        (kind, count) ->
            CollectivesMetrics.gauge(
                registry, "groups.failed." + kind.name().toLowerCase(Locale.ROOT), count::sum));
  }

  @Override
  public void onFailure(GroupFailure failure) {
    counts.forEach(
        (kind, count) -> {
          if (kind.name().equals(failure.kind())) {
            count.increment();
          }
        });
  }
}
