package org.sparkcollectives.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;

/**
 * Detects from a connection's first byte whether the client speaks TLS. So a client that lacks TLS,
 * or has it where none is expected, is told why it is refused. Sits at the very beginning of a
 * server's pipeline, and leaves it at that byte.
 */
final class FirstByte extends ChannelInboundHandlerAdapter {

  /**
   * The type of a TLS record with a handshake. Our own frames begin with 0, the first byte of the
   * length.
   */
  private static final byte TLS_HANDSHAKE = 22;

  private final Protection protection;
  private final ServerHandshake.Gate gate;
  private boolean refused;

  FirstByte(Protection protection, ServerHandshake.Gate gate) {
    this.protection = protection;
    this.gate = gate;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (refused) {
      ReferenceCountUtil.release(message);
      return;
    }
    ByteBuf bytes = (ByteBuf) message;
    if (!bytes.isReadable()) {
      bytes.release();
      return;
    }
    boolean tls = bytes.getByte(bytes.readerIndex()) == TLS_HANDSHAKE;
    if (tls == protection.isTls()) {
      context.pipeline().remove(this);
      context.fireChannelRead(bytes);
      return;
    }
    refused = true;
    bytes.release();
    String why =
        tls
            ? Protection.mismatch(Protection.TLS.code(), protection)
            : "it does not speak TLS, which this side requires";
    gate.refused(String.valueOf(context.channel().remoteAddress()), why);
    ClientHandshake.send(context, HandshakeMessages.otherProtection(protection));
    context.close();
  }
}
