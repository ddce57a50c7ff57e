package org.sparkcollectives.examples.digits;

import java.io.Serializable;
import java.security.SecureRandom;
import java.time.Duration;
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

  private final String host;
  private final int port;
  private final byte[] secret;

  private ProgressFeed(String host, int port, byte[] secret) {
    this.host = host;
    this.port = port;
    this.secret = secret;
  }

  /** The driver's end. */
  static final class Server implements AutoCloseable {
    private final TcpStoreServer store;
    private final ProgressFeed feed;

    Server(String host) {
      byte[] secret = new byte[32];
      new SecureRandom().nextBytes(secret);
      store = TcpStore.server(host, 0, secret, TransportSecurity.plain());
      feed = new ProgressFeed(host, store.port(), secret);
    }

    ProgressFeed feed() {
      return feed;
    }

    /** The next epoch; blocks until there is one. */
    Epoch next() {
      return Epoch.ofBytes(store.queuePop(QUEUE, true));
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
