package org.sparkcollectives.spark;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import org.apache.spark.SparkEnv;
import org.apache.spark.metrics.source.Source;

/** A source of metrics of a user's own, which Scala code outside of Spark cannot write. */
public final class NamedSource implements Source {

  private final String name;
  private final MetricRegistry registry = new MetricRegistry();

  private NamedSource(String name) {
    this.name = name;
    Gauge<Integer> theirs = () -> 42;
    registry.register("operations", theirs);
  }

  @Override
  public String sourceName() {
    return name;
  }

  @Override
  public MetricRegistry metricRegistry() {
    return registry;
  }

  /** Registers a source of this name in Spark's metrics system. */
  public static void register(SparkEnv env, String name) {
    env.metricsSystem().registerSource(new NamedSource(name));
  }

  /** Returns how many sources have this name. */
  public static int count(SparkEnv env, String name) {
    return env.metricsSystem().getSourcesByName(name).size();
  }

  /** Returns the value of a gauge of the first source of this name. */
  public static Object gauge(SparkEnv env, String name, String gauge) {
    return env.metricsSystem()
        .getSourcesByName(name)
        .head()
        .metricRegistry()
        .getGauges()
        .get(gauge)
        .getValue();
  }
}
