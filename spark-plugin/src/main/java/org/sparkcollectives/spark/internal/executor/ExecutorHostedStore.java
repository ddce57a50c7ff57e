package org.sparkcollectives.spark.internal.executor;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spark.internal.security.SparkSecurity;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;

/**
 * The store of a stage whose driver has none. Rank 0 serves it from its executor, and sends the
 * others its address and the secret by one {@code BarrierTaskContext.allGather}, which takes a
 * second.
 */
final class ExecutorHostedStore {

  private static final Duration LINGER = Duration.ofSeconds(30);
  private static final int SECRET_BYTES = 32;
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorHostedStore.class);

  private final Store store;
  private final TcpStoreServer server;

  private ExecutorHostedStore(Store store, TcpStoreServer server) {
    this.store = store;
    this.server = server;
  }

  /** Meets the other ranks of the stage. Blocks until all are there. */
  static ExecutorHostedStore meet(
      BarrierTaskContext task, String host, TransportSecurity security, Duration timeout) {
    if (task.partitionId() != 0) {
      String[] told = task.allGather("")[0].split(" ", -1);
      byte[] secret = HexFormat.of().parseHex(told[2]);
      Store client =
          TcpStore.connect(told[0], Integer.parseInt(told[1]), secret, security, timeout);
      return new ExecutorHostedStore(client, null);
    }
    LOG.info(
        "The driver has no store for collectives, so rank 0 serves one, which costs a second. {},"
            + " to avoid that",
        DriverStoreClient.INSTALL);
    SparkSecurity.warnIfOpen(SparkEnv.get());
    byte[] secret = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(secret);
    TcpStoreServer server = TcpStore.server(host, 0, secret, security);
    boolean told = false;
    try {
      task.allGather(host + " " + server.port() + " " + HexFormat.of().formatHex(secret));
      told = true;
      return new ExecutorHostedStore(server, server);
    } finally {
      if (!told) {
        server.close();
      }
    }
  }

  Store store() {
    return store;
  }

  /** Leaves. Rank 0 lets the others leave first, unless the task was told to stop. */
  void close(BarrierTaskContext task) {
    if (server != null && !task.isInterrupted() && !task.isFailed()) {
      server.awaitClientsGone(LINGER);
    }
    store.close();
  }
}
