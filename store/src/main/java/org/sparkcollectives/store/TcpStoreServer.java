package org.sparkcollectives.store;

import java.time.Duration;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.net.TransportSecurity;

/**
 * The handle of a process on the store that it serves: works on the data without a network.
 *
 * <p>One event loop serves all clients; a client that waits is parked in the table. {@link
 * #close()} disconnects the clients, whose calls then fail.
 *
 * <p>The server's memory holds each value once, however many clients read it. For each client it
 * needs 32 KiB of direct memory more while the client does not take its replies; a value that is
 * replaced meanwhile stays until it is sent. A value that arrives takes direct memory of its size
 * besides. A request for which there is no memory is answered with a {@link StoreException}, or its
 * connection is closed with a warning in the log; no client waits for a reply that does not come.
 */
public final class TcpStoreServer extends TableStore {

  private final TcpStoreListener listener;

  private TcpStoreServer(StoreTable table, TcpStoreListener listener) {
    super(
        table,
        "TcpStore at " + listener.address(),
        Configuration.ofSystemProperties().get(StoreConfiguration.TIMEOUT));
    this.listener = listener;
  }

  static TcpStoreServer open(String host, int port, byte[] secret, TransportSecurity security) {
    StoreTable table = new StoreTable();
    return new TcpStoreServer(table, new TcpStoreListener(table, host, port, secret, security));
  }

  /** Returns the port that the store listens on. */
  public int port() {
    return listener.port();
  }

  /**
   * Waits until no client is connected any more, so that {@link #close()} cuts none off.
   *
   * @return whether all left within the time; false too if the thread is interrupted, whose flag
   *     stays set
   */
  public boolean awaitClientsGone(Duration atMost) {
    return awaitGone(atMost, null);
  }

  /**
   * Waits as {@link #awaitClientsGone(Duration)} does, but not for clients of a host that sends
   * nothing: it may have been cut off, and its clients then never leave. Another host that has been
   * silent for so long before is waited for at most a second; for clients whose hosts need not send
   * anything, there is the other method.
   *
   * @param patience how long a host may send nothing
   */
  public boolean awaitClientsGone(Duration atMost, Duration patience) {
    return awaitGone(atMost, patience);
  }

  private boolean awaitGone(Duration atMost, Duration patience) {
    try {
      return listener.awaitClientsGone(atMost, patience);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Override
  void release() {
    listener.close();
    table().close();
  }
}
