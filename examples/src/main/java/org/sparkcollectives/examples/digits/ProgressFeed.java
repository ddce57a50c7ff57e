package org.sparkcollectives.examples.digits;

import java.io.Serializable;
import java.security.SecureRandom;
import java.time.Duration;
import org.apache.spark.SparkConf;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;
import org.sparkcollectives.store.net.TransportSecurity;

/**
 * How rank 0 tells the driver of each epoch while the stage still runs: through a queue in a store
 * that the driver serves.
 */
final class ProgressFeed implements Serializable {

  private static final long serialVersionUID = 1;
  private static final String QUEUE = "epochs";
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(30);

  /** How long an epoch may take, the wait for a place in the cluster included. */
  private static final Duration PATIENCE = Duration.ofDays(7);

  private final String host;
  private final int port;
  private final byte[] secret;

  private ProgressFeed(String host, int port, byte[] secret) {
    this.host = host;
    this.port = port;
    this.secret = secret;
  }

  /**
   * Begins to serve where Spark's driver listens, under the name by which its executors know it;
   * the two differ in containers.
   */
  static Server serve(SparkConf conf) {
    String host = conf.get("spark.driver.host");
    return new Server(conf.get("spark.driver.bindAddress", host), host);
  }

  /** The driver's end. */
  static final class Server implements AutoCloseable {
    private final TcpStoreServer store;
    private final ProgressFeed feed;

    private final Store patient;

    private Server(String bindHost, String host) {
      byte[] secret = new byte[32];
      new SecureRandom().nextBytes(secret);
      store = TcpStore.server(bindHost, 0, secret, TransportSecurity.plain());
      patient = store.withTimeout(PATIENCE);
      feed = new ProgressFeed(host, store.port(), secret);
    }

    ProgressFeed feed() {
      return feed;
    }

    /** The next epoch; blocks until there is one. */
    Epoch next() {
      return Epoch.ofBytes(patient.queuePop(QUEUE, true));
    }

    @Override
    public void close() {
      store.close();
    }
  }

  /** Rank 0's end. */
  Store connect() {
    return TcpStore.connect(host, port, secret, TransportSecurity.plain(), CONNECT_TIMEOUT);
  }

  static void push(Store connected, Epoch epoch) {
    connected.queuePush(QUEUE, epoch.toBytes());
  }
}
