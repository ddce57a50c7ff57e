package org.sparkcollectives.store.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.util.concurrent.ScheduledFuture;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The accepting side of the handshake. Takes itself out of the pipeline when it is done; until then
 * nothing else of the connection's bytes is looked at, and frames are small.
 */
public final class ServerHandshake extends SimpleChannelInboundHandler<ByteBuf> {

  /** What a server does about those who knock. */
  public interface Gate {

    /**
     * The secret for a connection, as soon as its group and receiver are here. May be cancelled
     * when the connection is gone or the time over.
     */
    CompletableFuture<byte[]> secretFor(ConnectionId id);

    /**
     * A connection has proven itself: sets up {@code pipeline}, to which all further bytes go.
     * Called on the channel's event loop.
     */
    void accepted(ConnectionId id, ChannelPipeline pipeline);

    /** A connection was refused. */
    void refused(String remoteAddress, String why);
  }

  private static final String FRAMES = "handshake-frames";

  private final Gate gate;
  private final Duration timeout;
  private final byte[] serverNonce = new byte[HandshakeMessages.NONCE_BYTES];
  private ConnectionId id;
  private byte[] hello;
  private byte[] clientNonce;
  private CompletableFuture<byte[]> secret;
  private boolean ended;
  private ScheduledFuture<?> alarm;

  private ServerHandshake(Gate gate, Duration timeout) {
    this.gate = gate;
    this.timeout = timeout;
    new SecureRandom().nextBytes(serverNonce);
  }

  /** Puts the handshake at the end of an accepted channel's pipeline. */
  public static void addTo(ChannelPipeline pipeline, Gate gate, Duration timeout) {
    pipeline.addLast(
        FRAMES, new LengthFieldBasedFrameDecoder(HandshakeMessages.MAX_FRAME_BYTES, 0, 2, 0, 2));
    pipeline.addLast(new ServerHandshake(gate, timeout));
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    alarm =
        context
            .executor()
            .schedule(() -> timedOut(context), timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  private void timedOut(ChannelHandlerContext context) {
    if (secret != null && !secret.isDone()) {
      refuse(context, HandshakeMessages.UNKNOWN_GROUP, "group \"" + id.group() + "\" is not here");
    } else {
      refuse(context, null, "no handshake within " + timeout.toMillis() + " ms");
    }
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
    if (ended) {
      return;
    }
    if (hello == null) {
      hello(context, message);
    } else if (secret.isDone() && !secret.isCompletedExceptionally()) {
      proof(context, message, secret.join());
    } else {
      refuse(context, null, "it answered before it was asked");
    }
  }

  private void hello(ChannelHandlerContext context, ByteBuf message) {
    hello = HandshakeMessages.bytes(message.duplicate(), message.readableBytes());
    if (!HandshakeMessages.isOurs(message)) {
      refuse(context, null, "it does not speak this protocol");
      return;
    }
    if (!HandshakeMessages.isThisVersion(message)) {
      refuse(context, HandshakeMessages.OTHER_VERSION, "it has another protocol version");
      return;
    }
    clientNonce = HandshakeMessages.nonce(message);
    id = HandshakeMessages.connectionId(message);
    secret = gate.secretFor(id);
    secret.whenComplete(
        (bytes, cause) -> context.executor().execute(() -> challenge(context, bytes, cause)));
  }

  private void challenge(ChannelHandlerContext context, byte[] bytes, Throwable cause) {
    if (ended) {
      return;
    }
    if (cause != null) {
      refuse(context, HandshakeMessages.UNKNOWN_GROUP, "group \"" + id.group() + "\" is not here");
      return;
    }
    byte[] proof = HandshakeMessages.serverProof(bytes, clientNonce, serverNonce, hello);
    ClientHandshake.send(context, HandshakeMessages.challenge(serverNonce, proof));
  }

  private void proof(ChannelHandlerContext context, ByteBuf message, byte[] bytes) {
    boolean ours = HandshakeMessages.isOurs(message) && HandshakeMessages.isThisVersion(message);
    if (!ours || message.readableBytes() != 1 + HandshakeMessages.PROOF_BYTES) {
      refuse(context, null, "it does not speak this protocol");
      return;
    }
    message.readByte();
    byte[] proof = HandshakeMessages.bytes(message, HandshakeMessages.PROOF_BYTES);
    byte[] expected = HandshakeMessages.clientProof(bytes, clientNonce, serverNonce, hello);
    if (!MessageDigest.isEqual(proof, expected)) {
      refuse(
          context,
          HandshakeMessages.WRONG_SECRET,
          "it does not have the secret of group \"" + id.group() + "\"");
      return;
    }
    ended = true;
    alarm.cancel(false);
    ClientHandshake.send(context, HandshakeMessages.refusal(HandshakeMessages.OK));
    gate.accepted(id, context.pipeline());
    context.pipeline().remove(this);
    context.pipeline().remove(FRAMES);
  }

  private void refuse(ChannelHandlerContext context, Byte status, String why) {
    if (ended) {
      return;
    }
    end();
    gate.refused(String.valueOf(context.channel().remoteAddress()), why);
    if (status != null) {
      ClientHandshake.send(context, HandshakeMessages.refusal(status));
    }
    context.close();
  }

  private void end() {
    ended = true;
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
      end();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    refuse(context, null, "it does not speak this protocol (" + cause.getMessage() + ")");
  }
}
