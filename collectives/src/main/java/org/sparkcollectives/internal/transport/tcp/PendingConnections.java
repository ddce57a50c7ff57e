package org.sparkcollectives.internal.transport.tcp;

import io.netty.channel.Channel;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** Connects one rank to others, and knows which connections are still being made. Thread-safe. */
public final class PendingConnections implements Connector {

  private final Connector connector;

  /** How many connections to each peer are being made. */
  private final ConcurrentHashMap<Integer, Integer> counts = new ConcurrentHashMap<>();

  public PendingConnections(Connector connector) {
    this.connector = connector;
  }

  @Override
  public CompletableFuture<Channel> connect(Target target, Setup setup) {
    CompletableFuture<Channel> made = connector.connect(target, setup);
    int peer = target.id().to();
    counts.merge(peer, 1, Integer::sum);
    made.whenComplete(
        (channel, cause) ->
            counts.computeIfPresent(peer, (key, count) -> count == 1 ? null : count - 1));
    return made;
  }

  /** Returns the peers to which a connection is being made, in order. */
  public List<Integer> peers() {
    return counts.keySet().stream().sorted().toList();
  }
}
