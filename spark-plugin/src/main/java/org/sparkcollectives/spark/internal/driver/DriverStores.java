package org.sparkcollectives.spark.internal.driver;

import com.codahale.metrics.MetricRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.spark.config.SparkSettings;
import org.sparkcollectives.spark.internal.metrics.CollectivesMetrics;
import org.sparkcollectives.spark.internal.protocol.StoreMessages;
import org.sparkcollectives.spark.internal.security.SparkSecurity;
import org.sparkcollectives.spark.internal.ui.CollectivesUi;

/** The {@link DriverStore} of each application whose driver is in this JVM. Thread-safe. */
public final class DriverStores {

  private static final Logger LOG = LoggerFactory.getLogger(DriverStores.class);
  private static final Map<String, DriverStore> INSTALLED = new HashMap<>();

  private DriverStores() {}

  /**
   * Installs the store in a running application, unless it is there.
   *
   * @return whether it was not there
   */
  public static boolean install(SparkContext context) {
    return install(context, DriverStore.Traffic.DEFAULT);
  }

  /** Installs the store as the other method does, with another way of large values to it. */
  static boolean install(SparkContext context, DriverStore.Traffic traffic) {
    SparkEnv env = SparkEnv.get();
    String application = env.rpcEnv().address().toString();
    synchronized (INSTALLED) {
      if (INSTALLED.containsKey(application)) {
        return false;
      }
      DriverStore store =
          new DriverStore(
              removals -> new SparkBlocks(env.blockManager(), removals),
              SparkSettings.of(env.conf()),
              traffic,
              env.conf()::getAppId,
              context::killTaskAttempt,
              executor ->
                  context.taskScheduler().getExecutorDecommissionState(executor).isDefined(),
              new SchedulerTopology(context));
      RpcEndpointRef endpoint =
          env.rpcEnv()
              .setupEndpoint(StoreMessages.ENDPOINT, new StoreEndpoint(env.rpcEnv(), store));
      INSTALLED.put(application, store);
      StageListener listener =
          new StageListener(
              store,
              () -> {
                synchronized (INSTALLED) {
                  INSTALLED.remove(application);
                }
                env.rpcEnv().stop(endpoint);
                store.close();
              });
      context.listenerBus().addToQueue(listener, StageListener.QUEUE);
      LOG.info(
          "The driver's store for collectives is at endpoint {} of {}",
          StoreMessages.ENDPOINT,
          application);
      SparkSecurity.warnIfOpen(env);
      SparkSettings.warnOfUnknown(env.conf());
      CollectivesUi.install(context)
          .ifPresent(
              interval -> {
                Consumer<SparkListenerEvent> bus = context.listenerBus()::post;
                store
                    .statistics()
                    .addListener(new GroupEvents(bus, System::currentTimeMillis, interval));
                store.runs().events().post(bus);
              });
      return true;
    }
  }

  /** Returns the one of this driver's application, or null. */
  static DriverStore of(SparkEnv env) {
    synchronized (INSTALLED) {
      return INSTALLED.get(env.rpcEnv().address().toString());
    }
  }

  /** Returns what executors have reported of their ranks; null if there is no store. */
  public static StatisticsCollector statistics(SparkEnv env) {
    DriverStore store = of(env);
    return store == null ? null : store.statistics();
  }

  /**
   * Returns what tells the last of an application's groups. Run before Spark's listeners stop, it
   * lets the event log have them, and takes two seconds at the most; the end of the application
   * runs it, too, but may come later.
   */
  public static Runnable endOfGroups(SparkEnv env) {
    DriverStore store = of(env);
    return store == null ? () -> {} : store::endGroups;
  }

  /** Registers the driver's metrics in the registry of a plugin. */
  public static void registerMetrics(SparkEnv env, MetricRegistry registry) {
    DriverStore store = of(env);
    if (store != null) {
      StatisticsCollector statistics = store.statistics();
      CollectivesMetrics.register(
          registry, () -> statistics.sums().figures(), store.messageTimer());
      CollectivesMetrics.gauge(registry, "ranks.active", () -> statistics.sums().activeRanks());
      CollectivesMetrics.gauge(registry, "stragglers", () -> statistics.sums().stragglers());
      CollectivesMetrics.gauge(registry, "progress", () -> statistics.sums().progress());
      CollectivesMetrics.gauge(registry, "store.keys", () -> store.table().count(""));
      CollectivesMetrics.gauge(registry, "store.clients", () -> store.clients().count());
      store.runs().events().register(registry);
      FailureCounts failures = new FailureCounts();
      failures.register(registry);
      statistics.addListener(failures);
    }
  }

  /** Publishes the driver's metrics where no plugin does. */
  public static void publishMetrics(SparkEnv env) {
    MetricRegistry registry = new MetricRegistry();
    registerMetrics(env, registry);
    CollectivesMetrics.publish(env, registry);
  }

  /** Releases what is kept of a call of {@code BarrierStage} that has no further job. */
  public static void release(SparkEnv env, String call) {
    DriverStore store = of(env);
    if (store != null) {
      store.release(call);
    }
  }

  /** Returns the number of keys of all stages and runs. */
  public static long keys(SparkEnv env) {
    DriverStore store = of(env);
    return store == null ? 0 : store.table().count("");
  }

  /** Returns the number of clients of all stages and runs. */
  public static int clientCount(SparkEnv env) {
    DriverStore store = of(env);
    return store == null ? 0 : store.clients().count();
  }
}
