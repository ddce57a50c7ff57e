package org.sparkcollectives.internal.rendezvous;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.spi.RendezvousHandler;
import org.sparkcollectives.spi.failure.FailedRendezvous;
import org.sparkcollectives.spi.failure.RankIdentity;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConfiguration;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;

/**
 * Opens {@code tcp://host:port?rank=R&world_size=N} URLs. Rank 0 serves the store at that address.
 */
final class TcpRendezvous implements RendezvousHandler {

  /** The time that rank 0 waits at the end until the others have left its store. */
  private static final Duration LINGER = Duration.ofSeconds(30);

  /** Half of the time that it waits for them where the group was not made. */
  private static final Duration SHORT_LINGER = Duration.ofMillis(500);

  @Override
  public Meeting open(URI url) {
    return open(url, GroupOptions.LONGEST_TIMEOUT);
  }

  @Override
  public Meeting open(URI url, Duration timeout) {
    RendezvousUrl parsed = new RendezvousUrl(url, "tcp://127.0.0.1:29500?rank=0&world_size=4");
    if (url.getHost() == null || url.getPort() < 0) {
      throw parsed.malformed("host or port number missing");
    }
    int rank = parsed.number("rank", null);
    int size = parsed.number("world_size", null);
    parsed.check(rank, size);
    return meet(url.getHost(), url.getPort(), rank, size, timeout);
  }

  /** Serves the store at that address, or connects to it, within {@code atMost}. */
  static Meeting meet(String host, int port, int rank, int size, Duration atMost) {
    Configuration configuration = Configuration.ofSystemProperties();
    byte[] secret =
        configuration
            .get(CollectivesConfiguration.RENDEZVOUS_SECRET)
            .getBytes(StandardCharsets.UTF_8);
    TransportSecurity security = configuration.get(CollectivesConfiguration.ENCRYPTION).security();
    if (secret.length == 0 && !security.isPlain()) {
      throw new IllegalArgumentException(
          "With "
              + CollectivesConfiguration.ENCRYPTION
              + ", the ranks that meet at "
              + host
              + ":"
              + port
              + " need a secret, by which they know each other: set "
              + CollectivesConfiguration.RENDEZVOUS_SECRET
              + " to the same random text on all of them, such as \"openssl rand -hex 32\" gives");
    }
    String own = LocalAddress.towards(host, port);
    if (rank > 0) {
      Duration timeout = configuration.get(StoreConfiguration.TIMEOUT);
      Store client = connect(host, port, secret, security, Deadline.smaller(timeout, atMost), rank);
      return new Meeting(client.withTimeout(timeout), rank, size, own, client::close);
    }
    TcpStoreServer server = TcpStore.server(host, port, secret, security);
    Duration heartbeat = configuration.get(CollectivesConfiguration.HEARTBEAT_TIMEOUT);
    // Heartbeats come from each host but this one, unless they are off.
    boolean beats = !heartbeat.isZero();
    return new Meeting(
        server,
        rank,
        size,
        own,
        () -> {
          if (beats) {
            server.awaitClientsGone(LINGER, heartbeat);
          } else {
            server.awaitClientsGone(LINGER);
          }
          server.close();
        });
  }

  @Override
  public void failed(Meeting meeting, RuntimeException cause) {
    giveUp(meeting, cause);
  }

  /**
   * Releases the store. Ranks whose own time is over leave by themselves as well. The others,
   * unless they are cut off, learn that the rank that serves the store has given up.
   */
  static void giveUp(Meeting meeting, RuntimeException cause) {
    if (!(meeting.store() instanceof TcpStoreServer server)) {
      meeting.onClose().run();
      return;
    }
    try {
      if (!server.awaitClientsGone(SHORT_LINGER)) {
        FailedRendezvous.publishToAll(server, failure(meeting, cause));
        server.awaitClientsGone(SHORT_LINGER);
      }
    } finally {
      server.close();
    }
  }

  private static Failure failure(Meeting meeting, RuntimeException cause) {
    if (cause instanceof PeerFailedException peer) {
      return peer.failure();
    }
    RankContext context = RankContext.process(meeting.bindHost());
    return new RankIdentity(
            "", meeting.rank(), meeting.bindHost(), context.executorId(), context.taskAttemptId())
        .failure(Failure.Kind.EXCEPTION, "", -1, cause);
  }

  private static Store connect(
      String host, int port, byte[] secret, TransportSecurity security, Duration atMost, int rank) {
    try {
      return TcpStore.connect(host, port, secret, security, atMost);
    } catch (StoreConnectionException e) {
      throw new StoreConnectionException(
          "Rank " + rank + " does not reach rank 0, which serves the store: " + e.getMessage(), e);
    }
  }
}
