package org.sparkcollectives.store;

import java.time.Duration;
import org.sparkcollectives.store.net.TransportSecurity;

/**
 * A store that one process serves to others over TCP.
 *
 * <p>Server and clients prove to each other that they have the same secret before anything else is
 * said. Without one, as in c10d, whoever reaches the port can read and write.
 */
public final class TcpStore {

  /** What stands for no secret: an HMAC needs a key. */
  private static final byte[] NO_SECRET = {0};

  private TcpStore() {}

  /**
   * Serves a new store without a secret.
   *
   * @see #server(String, int, byte[], TransportSecurity)
   */
  public static TcpStoreServer server(String host, int port) {
    return server(host, port, NO_SECRET, TransportSecurity.plain());
  }

  /**
   * Serves a new store, and gives a handle on it.
   *
   * @param host the address to listen on
   * @param port the port to listen on; 0 for any, see {@link TcpStoreServer#port}
   * @param secret what clients must have; empty for none
   * @throws StoreException if the address cannot be listened on
   */
  public static TcpStoreServer server(
      String host, int port, byte[] secret, TransportSecurity security) {
    return TcpStoreServer.open(host, port, key(secret), security);
  }

  /**
   * Connects to a store without a secret.
   *
   * @see #connect(String, int, byte[], TransportSecurity, Duration)
   */
  public static WatchableStore connect(String host, int port, Duration timeout) {
    return connect(host, port, NO_SECRET, TransportSecurity.plain(), timeout);
  }

  /**
   * Connects to a store. Blocks until that is done, and tries again and again while the server is
   * not there yet.
   *
   * @param timeout how long to try; also the {@link Store#timeout()} of the handle
   * @throws StoreConnectionException if it was not possible, with the last cause
   */
  public static WatchableStore connect(
      String host, int port, byte[] secret, TransportSecurity security, Duration timeout) {
    return TcpStoreClient.connect(host, port, key(secret), security, timeout);
  }

  private static byte[] key(byte[] secret) {
    return secret.length == 0 ? NO_SECRET : secret;
  }
}
