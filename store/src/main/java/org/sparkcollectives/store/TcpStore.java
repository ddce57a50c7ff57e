package org.sparkcollectives.store;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import org.sparkcollectives.net.TransportSecurity;

/**
 * A store that one process serves to others over TCP.
 *
 * <p>Server and clients prove to each other that they have the same secret before anything else is
 * sent. Without a secret, whoever reaches the port can read and write, as in c10d. An address that
 * other hosts reach is therefore refused without a secret.
 */
public final class TcpStore {

  /** Stands for "no secret": an HMAC needs a key. */
  private static final byte[] NO_SECRET = {0};

  private static final byte[] EMPTY = {};

  private TcpStore() {}

  /**
   * Serves a new store without a secret to processes of this host.
   *
   * @see #server(String, int, byte[], TransportSecurity)
   */
  public static TcpStoreServer server(String host, int port) {
    return server(host, port, EMPTY, TransportSecurity.plain());
  }

  /**
   * Serves a new store, and returns a handle on it.
   *
   * @param host the address to listen on
   * @param port the port to listen on; 0 for any, see {@link TcpStoreServer#port}
   * @param secret what clients must have; empty for none
   * @throws IllegalArgumentException if there is no secret, and the address is not a loopback one
   * @throws StoreException if it cannot listen on the address
   */
  public static TcpStoreServer server(
      String host, int port, byte[] secret, TransportSecurity security) {
    return TcpStoreServer.open(host, port, key(host, port, secret), security);
  }

  /**
   * Connects to a store without a secret, on this host.
   *
   * @see #connect(String, int, byte[], TransportSecurity, Duration)
   */
  public static WatchableStore connect(String host, int port, Duration timeout) {
    return connect(host, port, EMPTY, TransportSecurity.plain(), timeout);
  }

  /**
   * Connects to a store. Blocks until it is connected, and retries while the server is not there
   * yet.
   *
   * @param timeout how long to try; also the {@link Store#timeout()} of the handle
   * @throws IllegalArgumentException if there is no secret, and the address is not a loopback one
   * @throws StoreConnectionException if it could not connect, with the last cause
   */
  public static WatchableStore connect(
      String host, int port, byte[] secret, TransportSecurity security, Duration timeout) {
    return TcpStoreClient.connect(host, port, key(host, port, secret), security, timeout);
  }

  private static byte[] key(String host, int port, byte[] secret) {
    if (secret.length > 0) {
      return secret;
    }
    if (!isLoopback(host)) {
      throw new IllegalArgumentException(
          "The store at "
              + host
              + ":"
              + port
              + " needs a secret, as other hosts may reach this address: without one, whoever"
              + " reaches the port can join the group and read what its ranks send. Set"
              + " spark.collectives.rendezvous.secret to the same random text in all processes,"
              + " such as \"openssl rand -hex 32\" gives");
    }
    return NO_SECRET;
  }

  /**
   * Returns whether only this host reaches an address. A name that does not resolve now may be any
   * address.
   */
  private static boolean isLoopback(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }
}
