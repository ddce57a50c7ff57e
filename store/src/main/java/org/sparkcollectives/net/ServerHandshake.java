package org.sparkcollectives.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.util.concurrent.ScheduledFuture;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;

/**
 * The accepting side of the handshake. Removes itself from the pipeline when it is done. Until then
 * nothing else of the connection's bytes is read, and frames are small.
 */
public final class ServerHandshake extends SimpleChannelInboundHandler<ByteBuf> {

  /** The server's decisions about connecting clients. */
  public interface Gate {

    /**
     * Returns the secret for a connection, as soon as its group and receiver are present here. May
     * be cancelled when the connection is gone or the time is over.
     */
    CompletableFuture<byte[]> secretFor(ConnectionId id);

    /**
     * Sets up {@code pipeline} for a connection that has proven itself; all further bytes go there.
     * Called on the channel's event loop.
     */
    void accepted(ConnectionId id, ChannelPipeline pipeline);

    /** Reports that a connection was refused. */
    void refused(String remoteAddress, String why);
  }

  private static final String FRAMES = "handshake-frames";

  private static final String NOT_OURS = "it does not speak this protocol";

  private static final String TOO_MANY =
      "its host has too many connections here that have not proven the secret";

  private static final int SHOWN_CHARACTERS = 200;

  private final Gate gate;
  private final UnauthenticatedConnections unauthenticated;
  private final TransportSecurity security;
  private final Duration timeout;
  private final byte[] serverNonce = new byte[HandshakeMessages.NONCE_BYTES];
  private ConnectionId id;
  private byte[] hello;
  private byte[] clientNonce;
  private CompletableFuture<byte[]> secret;
  private boolean challenged;
  private boolean ended;
  private ScheduledFuture<?> alarm;

  private ServerHandshake(
      Gate gate,
      UnauthenticatedConnections unauthenticated,
      TransportSecurity security,
      Duration timeout) {
    this.gate = gate;
    this.unauthenticated = unauthenticated;
    this.security = security;
    this.timeout = timeout;
    new SecureRandom().nextBytes(serverNonce);
  }

  /**
   * Adds the handshake, and what protects the connection, to the end of a channel's pipeline.
   *
   * @param unauthenticated those of the same port
   * @param timeout how long the client may take for all of it
   */
  public static void addTo(
      ChannelPipeline pipeline,
      Gate gate,
      UnauthenticatedConnections unauthenticated,
      TransportSecurity security,
      Duration timeout) {
    pipeline.addLast(new FirstByte(security.protection(), gate));
    security.addServerTls(pipeline);
    pipeline.addLast(
        FRAMES, new LengthFieldBasedFrameDecoder(HandshakeMessages.MAX_FRAME_BYTES, 0, 2, 0, 2));
    pipeline.addLast(new ServerHandshake(gate, unauthenticated, security, timeout));
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    alarm =
        context
            .executor()
            .schedule(() -> timedOut(context), timeout.toNanos(), TimeUnit.NANOSECONDS);
    unauthenticated.add(
        context.channel(), () -> context.executor().execute(() -> refuse(context, null, TOO_MANY)));
  }

  private void timedOut(ChannelHandlerContext context) {
    if (secret != null && !secret.isDone()) {
      refuse(context, HandshakeMessages.refusal(HandshakeMessages.UNKNOWN_GROUP), unknownGroup());
    } else {
      refuse(context, null, "no handshake within " + timeout.toMillis() + " ms");
    }
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, ByteBuf message)
      throws SSLPeerUnverifiedException {
    if (ended) {
      return;
    }
    if (hello == null) {
      hello(context, message);
    } else if (challenged) {
      proof(context, message, secret.join());
    } else {
      refuse(context, null, "it answered before it was asked");
    }
  }

  private void hello(ChannelHandlerContext context, ByteBuf message) {
    hello = HandshakeMessages.bytes(message.duplicate(), message.readableBytes());
    if (!HandshakeMessages.isOurs(message)) {
      refuse(context, null, NOT_OURS);
      return;
    }
    if (!HandshakeMessages.isThisVersion(message)) {
      refuse(
          context,
          HandshakeMessages.refusal(HandshakeMessages.OTHER_VERSION),
          "it has another protocol version");
      return;
    }
    clientNonce = HandshakeMessages.nonce(message);
    id = HandshakeMessages.connectionId(message);
    byte theirs = message.readByte();
    if (message.isReadable()) {
      refuse(context, null, NOT_OURS);
      return;
    }
    if (theirs != security.protection().code()) {
      refuse(
          context,
          HandshakeMessages.otherProtection(security.protection()),
          Protection.mismatch(theirs, security.protection()));
      return;
    }
    secret = gate.secretFor(id);
    secret.whenComplete(
        (bytes, cause) -> context.executor().execute(() -> challenge(context, cause)));
  }

  private void challenge(ChannelHandlerContext context, Throwable cause) {
    if (ended) {
      return;
    }
    if (cause != null) {
      refuse(context, HandshakeMessages.refusal(HandshakeMessages.UNKNOWN_GROUP), unknownGroup());
      return;
    }
    challenged = true;
    ClientHandshake.send(context, HandshakeMessages.ok(serverNonce));
  }

  private void proof(ChannelHandlerContext context, ByteBuf message, byte[] bytes)
      throws SSLPeerUnverifiedException {
    boolean ours = HandshakeMessages.isOurs(message) && HandshakeMessages.isThisVersion(message);
    boolean whole = ours && message.readableBytes() == 1 + HandshakeMessages.PROOF_BYTES;
    if (!whole || message.readByte() != HandshakeMessages.OK) {
      refuse(context, null, NOT_OURS);
      return;
    }
    byte[] proof = HandshakeMessages.bytes(message, HandshakeMessages.PROOF_BYTES);
    byte[] binding = security.binding(context.channel(), true);
    Transcript transcript = new Transcript(clientNonce, serverNonce, hello, binding);
    if (!MessageDigest.isEqual(proof, transcript.clientProof(bytes))) {
      refuse(
          context,
          HandshakeMessages.refusal(HandshakeMessages.WRONG_SECRET),
          "it does not have the secret of group \"" + shown(id.group()) + "\"");
      return;
    }
    ended = true;
    alarm.cancel(false);
    unauthenticated.remove(context.channel());
    ClientHandshake.send(context, HandshakeMessages.ok(transcript.serverProof(bytes)));
    gate.accepted(id, context.pipeline());
    context.pipeline().remove(this);
    context.pipeline().remove(FRAMES);
  }

  private String unknownGroup() {
    return "group \"" + shown(id.group()) + "\" is not here";
  }

  /** Returns text from an unauthenticated client in a form that cannot forge lines of the log. */
  private static String shown(String text) {
    String printable = text.replaceAll("\\p{Cntrl}", "?");
    return printable.length() <= SHOWN_CHARACTERS
        ? printable
        : printable.substring(0, SHOWN_CHARACTERS) + "…";
  }

  private void refuse(ChannelHandlerContext context, ByteBuf answer, String why) {
    if (ended) {
      return;
    }
    end(context);
    gate.refused(String.valueOf(context.channel().remoteAddress()), why);
    if (answer != null) {
      ClientHandshake.send(context, answer);
    }
    context.close();
  }

  private void end(ChannelHandlerContext context) {
    ended = true;
    unauthenticated.remove(context.channel());
    if (alarm != null) {
      alarm.cancel(false);
    }
    if (secret != null) {
      secret.cancel(false);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    if (!ended) {
      end(context);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (ended) {
      // Once a client is refused, nothing more is reported about it, whatever else it has sent.
      if (context.channel().isActive()) {
        context.fireExceptionCaught(cause);
      }
      return;
    }
    refuse(context, null, reason(cause));
  }

  private static String reason(Throwable cause) {
    if (cause instanceof TooLongFrameException || cause instanceof IndexOutOfBoundsException) {
      return NOT_OURS;
    }
    return cause.getCause() instanceof SSLException refusal
        ? "TLS: " + shown(String.valueOf(refusal.getMessage()))
        : "the connection broke: " + cause.getClass().getSimpleName();
  }
}
