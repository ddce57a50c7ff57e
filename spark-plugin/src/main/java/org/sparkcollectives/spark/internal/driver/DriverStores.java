package org.sparkcollectives.spark.internal.driver;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.rpc.RpcEndpointRef;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.spark.config.SparkSettings;
import org.sparkcollectives.spark.internal.protocol.StoreMessages;
import org.sparkcollectives.spark.internal.security.SparkSecurity;

/** The {@link DriverStore} of each application whose driver is in this JVM. Thread-safe. */
public final class DriverStores {

  private static final Logger LOG = LoggerFactory.getLogger(DriverStores.class);
  private static final Map<String, DriverStore> INSTALLED = new HashMap<>();

  private DriverStores() {}

  /** Installs the store in a running application, unless it is there. */
  public static void install(SparkContext context) {
    SparkEnv env = SparkEnv.get();
    String application = env.rpcEnv().address().toString();
    synchronized (INSTALLED) {
      if (INSTALLED.containsKey(application)) {
        return;
      }
      DriverStore store =
          new DriverStore(
              removals -> new SparkBlocks(env.blockManager(), removals),
              SparkSettings.of(env.conf()),
              env.conf()::getAppId,
              context::killTaskAttempt);
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
    }
  }

  /** Returns the one of this driver's application, or null. */
  static DriverStore of(SparkEnv env) {
    synchronized (INSTALLED) {
      return INSTALLED.get(env.rpcEnv().address().toString());
    }
  }

  /** Releases the checkpoints of a call of {@code BarrierStage} that has no further job. */
  public static void release(SparkEnv env, String call) {
    DriverStore store = of(env);
    if (store != null) {
      store.release(call);
    }
  }

  /** Returns the number of keys of all stages. */
  public static long keys(SparkEnv env) {
    DriverStore store = of(env);
    return store == null ? 0 : store.table().count("");
  }

  /** Returns the number of clients of all stages. */
  public static int clientCount(SparkEnv env) {
    DriverStore store = of(env);
    return store == null ? 0 : store.clients().count();
  }
}
