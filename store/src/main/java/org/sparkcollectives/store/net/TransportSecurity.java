package org.sparkcollectives.store.net;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.util.function.Function;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLPeerUnverifiedException;

/**
 * How connections are protected on the wire, besides the handshake that authenticates both sides.
 *
 * <p>Who makes one decides from whatever settings there are; what uses it does not know them. Both
 * sides of a connection must be protected alike; otherwise it is refused, with words on both sides.
 * Immutable. Connections of equal objects may share a port.
 */
public final class TransportSecurity {

  private static final byte[] NO_BINDING = {};
  private static final TransportSecurity PLAIN = new TransportSecurity(Protection.NONE, null, null);
  private static final TransportSecurity AES_GCM =
      new TransportSecurity(Protection.AES_GCM, null, null);

  private final Protection protection;
  private final Function<ByteBufAllocator, SslHandler> server;
  private final Function<ByteBufAllocator, SslHandler> client;

  private TransportSecurity(
      Protection protection,
      Function<ByteBufAllocator, SslHandler> server,
      Function<ByteBufAllocator, SslHandler> client) {
    this.protection = protection;
    this.server = server;
    this.client = client;
  }

  /** Bytes travel as they are. */
  public static TransportSecurity plain() {
    return PLAIN;
  }

  /**
   * Bytes travel through AES-256-GCM, with keys for each connection and direction that follow from
   * the secret of the handshake. The secret must be random: what can be guessed can be decrypted.
   */
  public static TransportSecurity aesGcm() {
    return AES_GCM;
  }

  /** Bytes travel through TLS. */
  public static TransportSecurity tls(SslContext server, SslContext client) {
    return new TransportSecurity(Protection.TLS, server::newHandler, client::newHandler);
  }

  /**
   * Bytes travel through TLS.
   *
   * @param server makes an engine for a connection that was accepted
   * @param client makes an engine for a connection to another
   */
  public static TransportSecurity tlsEngines(
      Function<ByteBufAllocator, SSLEngine> server, Function<ByteBufAllocator, SSLEngine> client) {
    return new TransportSecurity(
        Protection.TLS, server.andThen(SslHandler::new), client.andThen(SslHandler::new));
  }

  /** Whether bytes travel as they are. */
  public boolean isPlain() {
    return protection == Protection.NONE;
  }

  Protection protection() {
    return protection;
  }

  /** Puts what is below the handshake at the end of a pipeline, if there is anything. */
  void addServerTls(ChannelPipeline pipeline) {
    if (server != null) {
      pipeline.addLast(server.apply(pipeline.channel().alloc()));
    }
  }

  /** Puts what is below the handshake at the end of a pipeline, if there is anything. */
  void addClientTls(ChannelPipeline pipeline) {
    if (client != null) {
      pipeline.addLast(client.apply(pipeline.channel().alloc()));
    }
  }

  /** What the proofs of the handshake are bound to, see {@link Transcript}. */
  byte[] binding(Channel channel, boolean asServer) throws SSLPeerUnverifiedException {
    if (protection != Protection.TLS) {
      return NO_BINDING;
    }
    var session = channel.pipeline().get(SslHandler.class).engine().getSession();
    Certificate[] chain = asServer ? session.getLocalCertificates() : session.getPeerCertificates();
    if (chain == null || chain.length == 0) {
      throw new SSLPeerUnverifiedException("the server has no certificate");
    }
    try {
      return MessageDigest.getInstance("SHA-256").digest(chain[0].getEncoded());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Every JVM has SHA-256", e);
    }
  }

  @Override
  public String toString() {
    return switch (protection) {
      case NONE -> "plain";
      case AES_GCM -> "AES-GCM";
      case TLS -> "TLS";
    };
  }
}
