package org.sparkcollectives.net;

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
 * The protection of connections on the wire, besides the handshake that authenticates both sides.
 *
 * <p>Whoever creates one decides from the settings; whoever uses it does not know them. Both sides
 * of a connection must be protected alike; otherwise it is refused, with a message on both sides.
 * Immutable. Connections of equal objects may share a port.
 */
public final class TransportSecurity {

  private static final byte[] NO_BINDING = {};
  private static final TransportSecurity PLAIN = new TransportSecurity(Protection.NONE, null, null);

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

  /** Returns a security under which bytes travel unprotected. */
  public static TransportSecurity plain() {
    return PLAIN;
  }

  /**
   * Returns a security under which bytes travel through TLS 1.3 without a certificate from the
   * user: each process has a key of its own in memory, and the handshake that follows binds it to
   * the secret of both sides. Someone without the secret can neither pass for one of them nor sit
   * between them; someone who learns it later cannot read what was recorded before. Always returns
   * the same object; the first call draws the key.
   */
  public static TransportSecurity ephemeralTls() {
    return Ephemeral.SECURITY;
  }

  /** One for the process, because ranks of equal security share a port. */
  private static final class Ephemeral {
    private static final TransportSecurity SECURITY = make();

    private static TransportSecurity make() {
      EphemeralTls tls = new EphemeralTls();
      return tlsEngines(
          Protection.EPHEMERAL_TLS, allocator -> tls.engine(false), allocator -> tls.engine(true));
    }
  }

  /**
   * Returns a security under which bytes travel through TLS, with the certificates and the trust of
   * these contexts.
   */
  public static TransportSecurity tls(SslContext server, SslContext client) {
    return new TransportSecurity(Protection.TLS, server::newHandler, client::newHandler);
  }

  /**
   * Returns a security under which bytes travel through TLS, with the certificates and the trust of
   * these engines.
   *
   * @param server makes an engine for a connection that was accepted
   * @param client makes an engine for a connection to another
   */
  public static TransportSecurity tlsEngines(
      Function<ByteBufAllocator, SSLEngine> server, Function<ByteBufAllocator, SSLEngine> client) {
    return tlsEngines(Protection.TLS, server, client);
  }

  private static TransportSecurity tlsEngines(
      Protection protection,
      Function<ByteBufAllocator, SSLEngine> server,
      Function<ByteBufAllocator, SSLEngine> client) {
    return new TransportSecurity(
        protection, server.andThen(SslHandler::new), client.andThen(SslHandler::new));
  }

  /** Returns whether bytes travel unprotected. */
  public boolean isPlain() {
    return protection == Protection.NONE;
  }

  Protection protection() {
    return protection;
  }

  /** Adds the layer below the handshake, if there is one, to the end of a pipeline. */
  void addServerTls(ChannelPipeline pipeline) {
    addTls(pipeline, server);
  }

  /** Adds the layer below the handshake, if there is one, to the end of a pipeline. */
  void addClientTls(ChannelPipeline pipeline) {
    addTls(pipeline, client);
  }

  private static void addTls(
      ChannelPipeline pipeline, Function<ByteBufAllocator, SslHandler> handlers) {
    if (handlers != null) {
      SslHandler handler = handlers.apply(pipeline.channel().alloc());
      // Our own timeout covers both handshakes, so TLS needs none.
      handler.setHandshakeTimeoutMillis(0);
      pipeline.addLast(handler);
    }
  }

  /** Returns what the proofs of the handshake are bound to, see {@link Transcript}. */
  byte[] binding(Channel channel, boolean asServer) throws SSLPeerUnverifiedException {
    if (!protection.isTls()) {
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
      case TLS -> "TLS";
      case EPHEMERAL_TLS -> "TLS with ephemeral certificates";
    };
  }
}
