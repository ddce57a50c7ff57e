package org.sparkcollectives.internal.transport.tcp;

import io.netty.channel.Channel;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.net.ConnectionId;

/**
 * Connects one rank of a group to the others. Thread-safe.
 *
 * @param connector makes the connections
 * @param group the name of the group
 * @param rank this rank
 * @param secret what the connections of the group are authenticated with
 * @param endpoints where each rank is
 * @param listeners hear, each for one peer, how a connection to it ends
 */
public record RankConnector(
    Connector connector,
    String group,
    int rank,
    byte[] secret,
    List<Endpoint> endpoints,
    IntFunction<ConnectionListener> listeners) {

  /** Connects to a peer, see {@link Connector#connect}. */
  public CompletableFuture<Channel> connect(int peer, ConnectionKind kind, Connector.Setup setup) {
    ConnectionId id = new ConnectionId(group, rank, peer, kind.code());
    return connector.connect(new Connector.Target(endpoints.get(peer), id, secret), setup);
  }

  /**
   * Returns whether this rank and a peer have memory that the other can map, as far as is known.
   */
  boolean sharesMemoryWith(int peer) {
    return endpoints.get(rank).node().sharesMemoryWith(endpoints.get(peer).node());
  }

  /** Returns the failure of a path to a peer, which names both. */
  TransportException lost(int peer, Throwable why, Throwable cause) {
    Endpoint other = endpoints.get(peer);
    return new TransportException(
        "rank " + rank + " lost its path to " + other.describe() + ": " + why.getMessage(),
        peer,
        other.host() + ":" + other.port(),
        cause);
  }
}
