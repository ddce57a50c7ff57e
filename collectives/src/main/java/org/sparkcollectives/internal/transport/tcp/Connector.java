package org.sparkcollectives.internal.transport.tcp;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.net.ConnectionId;

/** Connects to ranks of other JVMs. Thread-safe. */
@FunctionalInterface
public interface Connector {

  /**
   * The target of a connection.
   *
   * @param peer where the peer is
   * @param id what the connection is for
   * @param secret with which both sides prove that they belong to the group
   */
  record Target(Endpoint peer, ConnectionId id, byte[] secret) {}

  /** Sets up the pipeline of a new connection. Called on its event loop. */
  @FunctionalInterface
  interface Setup {

    /** Adds what speaks after the handshake. */
    void setUp(ChannelPipeline pipeline);
  }

  /**
   * Connects, and tries again until the connect timeout while the peer is not ready. Does not
   * block.
   *
   * @return the connection, or {@link org.sparkcollectives.TransportException}; cancelling it ends
   *     the attempts
   */
  CompletableFuture<Channel> connect(Target target, Setup setup);
}
