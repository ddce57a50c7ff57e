package org.sparkcollectives.store;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The server's side of the connection of one client: requests in, replies out. */
final class TcpStoreConnection extends SimpleChannelInboundHandler<ByteBuf> {

  private static final Logger LOG = LoggerFactory.getLogger(TcpStoreConnection.class);

  private final StoreSession session;
  private final Runnable heard;

  /**
   * Creates the connection of a client.
   *
   * @param heard runs at each request
   */
  TcpStoreConnection(StoreSession session, Runnable heard) {
    this.session = session;
    this.heard = heard;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, ByteBuf request) {
    heard.run();
    session
        .answer(request.nioBuffer())
        .whenComplete(
            (reply, cancelled) -> {
              if (cancelled == null) {
                context.writeAndFlush(Unpooled.wrappedBuffer(reply));
              }
            });
  }

  /** Stops reading requests from a client while it does not read its replies. */
  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    context.channel().config().setAutoRead(context.channel().isWritable());
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    session.close();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    LOG.debug("Lost the store client at {}", context.channel().remoteAddress(), cause);
    context.close();
  }
}
