package org.sparkcollectives.store.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.handler.ssl.SslContext;
import java.util.Optional;

/**
 * How connections are protected on the wire, besides the handshake that authenticates both sides.
 *
 * <p>Who makes one decides from whatever settings there are; what uses it does not know them.
 */
public final class TransportSecurity {

  private static final TransportSecurity PLAIN = new TransportSecurity(null, null);

  private final SslContext server;
  private final SslContext client;

  private TransportSecurity(SslContext server, SslContext client) {
    this.server = server;
    this.client = client;
  }

  /** Bytes travel as they are. */
  public static TransportSecurity plain() {
    return PLAIN;
  }

  /** Bytes travel through TLS. */
  public static TransportSecurity tls(SslContext server, SslContext client) {
    return new TransportSecurity(server, client);
  }

  /** What protects a connection that was accepted, if anything. */
  public Optional<ChannelHandler> serverHandler(Channel channel) {
    return Optional.ofNullable(server).map(context -> context.newHandler(channel.alloc()));
  }

  /** What protects a connection to another, if anything. */
  public Optional<ChannelHandler> clientHandler(Channel channel) {
    return Optional.ofNullable(client).map(context -> context.newHandler(channel.alloc()));
  }

  /** Whether bytes travel as they are. */
  public boolean isPlain() {
    return server == null;
  }

  @Override
  public String toString() {
    return server == null ? "plain" : "TLS";
  }
}
