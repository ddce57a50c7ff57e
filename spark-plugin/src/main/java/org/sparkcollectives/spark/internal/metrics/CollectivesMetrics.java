package org.sparkcollectives.spark.internal.metrics;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.Metric;
import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.Timer;
import io.netty.util.internal.PlatformDependent;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.spark.SparkEnv;
import org.apache.spark.metrics.source.Source;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers the metrics of the driver or of an executor. Their names have no rank, group or host in
 * them, so that there is the same number of them in each application.
 */
public final class CollectivesMetrics {

  /** Spark names the metrics of a plugin like this; so they have the same names either way. */
  private static final String SOURCE = "plugin.org.sparkcollectives.spark.CollectivesPlugin";

  private static final Logger LOG = LoggerFactory.getLogger(CollectivesMetrics.class);

  private CollectivesMetrics() {}

  /**
   * Registers all metrics. A metric whose name is taken is left out, and logged.
   *
   * @param figures returns the figures; asked once for all gauges that are read together
   * @param storeCalls times the messages to the driver's store
   */
  public static void register(
      MetricRegistry registry, Supplier<Figures> figures, Timer storeCalls) {
    Supplier<Figures> recent = new Recent<>(figures);
    totals(registry, "operations", recent, OperationTotals::operations);
    totals(registry, "operations.pending", recent, OperationTotals::pending);
    totals(registry, "failures", recent, OperationTotals::failures);
    totals(registry, "bytes", recent, OperationTotals::bytes);
    gauge(registry, "bytes.sent", recent, each -> each.process().bytesSent());
    totals(registry, "bandwidth", recent, CollectivesMetrics::bandwidth);
    totals(registry, "wait.time", recent, OperationTotals::collectiveSeconds);
    totals(registry, "wait.longest", recent, OperationTotals::longestPendingSeconds);
    totals(registry, "outside.time", recent, OperationTotals::outsideSeconds);
    gauge(registry, "groups.active", recent, Figures::activeGroups);
    gauge(registry, "connections", recent, each -> each.process().connections());
    gauge(registry, "memory.shared", recent, each -> each.process().sharedBytes());
    gauge(registry, "memory.direct", CollectivesMetrics::directBytes);
    add(registry, "store.calls", storeCalls);
  }

  /** Returns the mean bytes for each second in which a rank had an operation pending. */
  private static double bandwidth(OperationTotals totals) {
    return totals.collectiveSeconds() > 0 ? totals.bytes() / totals.collectiveSeconds() : 0;
  }

  /** Returns the direct memory of this process: of the JVM's buffers, and what Netty has beside. */
  private static long directBytes() {
    long ofJvm =
        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(pool -> pool.getName().equals("direct"))
            .mapToLong(BufferPoolMXBean::getMemoryUsed)
            .sum();
    // -1 where Netty has none beside.
    return ofJvm + Math.max(0, PlatformDependent.usedDirectMemory());
  }

  /** Registers one more gauge. */
  public static void gauge(MetricRegistry registry, String name, Supplier<Number> value) {
    add(registry, name, (Gauge<Number>) value::get);
  }

  private static void totals(
      MetricRegistry registry,
      String name,
      Supplier<Figures> figures,
      Function<OperationTotals, Number> value) {
    gauge(registry, name, figures, each -> value.apply(each.totals()));
  }

  private static void gauge(
      MetricRegistry registry,
      String name,
      Supplier<Figures> figures,
      Function<Figures, Number> value) {
    add(registry, name, (Gauge<Number>) () -> value.apply(figures.get()));
  }

  private static void add(MetricRegistry registry, String name, Metric metric) {
    try {
      registry.register(name, metric);
    } catch (IllegalArgumentException e) {
      LOG.warn("The metric {} is left out: {}", name, e.getMessage());
    }
  }

  /**
   * Gives a registry to Spark's metrics system, where no plugin has one. What fails is logged: the
   * application works without metrics.
   */
  public static void publish(SparkEnv env, MetricRegistry registry) {
    try {
      env.metricsSystem()
          .registerSource(
              new Source() {
                @Override
                public String sourceName() {
                  return SOURCE;
                }

                @Override
                public MetricRegistry metricRegistry() {
                  return registry;
                }
              });
    } catch (RuntimeException | LinkageError e) {
      LOG.warn("The metrics of collectives are not in Spark's metrics system: {}", e.toString());
    }
  }

  /** Keeps a value for half a second, in which a sink reads all gauges. */
  private static final class Recent<T> implements Supplier<T> {
    private static final long KEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Supplier<T> source;
    private T value;
    private long readNanos;

    private Recent(Supplier<T> source) {
      this.source = source;
    }

    @Override
    public synchronized T get() {
      long now = System.nanoTime();
      if (value == null || now - readNanos > KEEP_NANOS) {
        value = source.get();
        readNanos = now;
      }
      return value;
    }
  }
}
