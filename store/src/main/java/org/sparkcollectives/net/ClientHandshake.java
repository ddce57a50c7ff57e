package org.sparkcollectives.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;

/**
 * The connecting side of the handshake. Removes itself from the pipeline when it is done; the
 * handlers after it see the bytes that follow.
 */
public final class ClientHandshake extends SimpleChannelInboundHandler<ByteBuf> {

  private static final String FRAMES = "handshake-frames";

  private static final String NOT_OURS = "it is not a rank or store of this library";

  private final ConnectionId id;
  private final byte[] secret;
  private final TransportSecurity security;
  private final Duration timeout;
  private final CompletableFuture<Channel> done;
  private final byte[] clientNonce = new byte[HandshakeMessages.NONCE_BYTES];
  private byte[] hello;
  private Transcript transcript;
  private boolean ended;
  private ScheduledFuture<?> alarm;

  private ClientHandshake(
      ConnectionId id,
      byte[] secret,
      TransportSecurity security,
      Duration timeout,
      CompletableFuture<Channel> done) {
    this.id = id;
    this.secret = secret.clone();
    this.security = security;
    this.timeout = timeout;
    this.done = done;
    new SecureRandom().nextBytes(clientNonce);
  }

  /**
   * Adds the handshake, and what protects the connection, to the end of a new channel's pipeline.
   *
   * @param done completed, on the channel's event loop, when both sides have proven themselves.
   *     Otherwise it fails with {@link HandshakeException} or with what broke the connection, and
   *     the channel is closed
   */
  public static void addTo(
      ChannelPipeline pipeline,
      ConnectionId id,
      byte[] secret,
      TransportSecurity security,
      Duration timeout,
      CompletableFuture<Channel> done) {
    security.addClientTls(pipeline);
    pipeline.addLast(
        FRAMES, new LengthFieldBasedFrameDecoder(HandshakeMessages.MAX_FRAME_BYTES, 0, 2, 0, 2));
    pipeline.addLast(new ClientHandshake(id, secret, security, timeout, done));
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    ByteBuf message = HandshakeMessages.hello(clientNonce, id, security.protection());
    hello = HandshakeMessages.bytes(message.duplicate(), message.readableBytes());
    send(context, message);
    alarm =
        context
            .executor()
            .schedule(
                () -> fail(context, "it did not answer within " + timeout.toMillis() + " ms", true),
                timeout.toNanos(),
                TimeUnit.NANOSECONDS);
  }

  static void send(ChannelHandlerContext context, ByteBuf message) {
    context.write(Unpooled.buffer(Short.BYTES).writeShort(message.readableBytes()));
    context.writeAndFlush(message, context.voidPromise());
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, ByteBuf message)
      throws SSLPeerUnverifiedException {
    if (ended) {
      return;
    }
    if (!HandshakeMessages.isOurs(message)) {
      fail(context, NOT_OURS, false);
    } else if (!HandshakeMessages.isThisVersion(message)) {
      fail(context, "it has another protocol version; all ranks must have the same jar", false);
    } else if (transcript != null) {
      welcomed(context, message);
    } else {
      challenged(context, message);
    }
  }

  private void challenged(ChannelHandlerContext context, ByteBuf message)
      throws SSLPeerUnverifiedException {
    byte status = message.readByte();
    if (status != HandshakeMessages.OK) {
      refused(context, status, message);
      return;
    }
    byte[] serverNonce = HandshakeMessages.nonce(message);
    byte[] binding = security.binding(context.channel(), false);
    transcript = new Transcript(clientNonce, serverNonce, hello, binding);
    send(context, HandshakeMessages.ok(transcript.clientProof(secret)));
  }

  private void welcomed(ChannelHandlerContext context, ByteBuf message) {
    byte status = message.readByte();
    if (status != HandshakeMessages.OK) {
      refused(context, status, message);
      return;
    }
    byte[] proof = HandshakeMessages.bytes(message, HandshakeMessages.PROOF_BYTES);
    if (!MessageDigest.isEqual(proof, transcript.serverProof(secret))) {
      fail(context, "it does not have the secret of group \"" + id.group() + "\"", false);
      return;
    }
    ended = true;
    alarm.cancel(false);
    done.complete(context.channel());
    context.pipeline().remove(this);
    context.pipeline().remove(FRAMES);
  }

  private void refused(ChannelHandlerContext context, byte status, ByteBuf message) {
    switch (status) {
      case HandshakeMessages.OTHER_VERSION ->
          fail(context, "it has another protocol version; all ranks must have the same jar", false);
      case HandshakeMessages.UNKNOWN_GROUP ->
          fail(context, "it does not know group \"" + id.group() + "\" (yet)", true);
      case HandshakeMessages.OTHER_PROTECTION ->
          fail(context, Protection.mismatch(message.readByte(), security.protection()), false);
      default -> fail(context, "it refused the secret of group \"" + id.group() + "\"", false);
    }
  }

  private void fail(ChannelHandlerContext context, String why, boolean worthARetry) {
    end(
        context,
        new HandshakeException(context.channel().remoteAddress() + ": " + why, worthARetry));
  }

  private void end(ChannelHandlerContext context, Throwable cause) {
    ended = true;
    if (alarm != null) {
      alarm.cancel(false);
    }
    done.completeExceptionally(cause);
    context.close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    end(context, new IOException("the connection was closed during the handshake"));
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (cause instanceof TooLongFrameException || cause instanceof IndexOutOfBoundsException) {
      fail(context, NOT_OURS, false);
    } else if (cause.getCause() instanceof NotSslRecordException) {
      fail(context, "it does not speak TLS, which this side requires", false);
    } else if (cause.getCause() instanceof SSLException refusal) {
      fail(context, "TLS: " + refusal.getMessage(), false);
    } else {
      end(context, cause);
    }
  }
}
