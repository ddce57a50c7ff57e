package org.sparkcollectives.store;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server's side of the connection of one client: requests in, replies out.
 *
 * <p>While the client does not read its replies, none of its requests is carried out. What the
 * connection keeps meanwhile is a chunk of a reply, the requests that one read from the socket
 * brought, and references to the values that it is about to send. A reply that cannot be sent ends
 * the connection, so that no client waits for it.
 */
final class TcpStoreConnection extends ChannelInboundHandlerAdapter {

  /** The bytes of replies beyond which the client must read before it is served. */
  static final int MOST_UNSENT_BYTES = 1 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(TcpStoreConnection.class);

  private final StoreSession session;
  private final Runnable heard;

  // Used by the event loop only.
  private final Queue<ByteBuf> requests = new ArrayDeque<>();
  private long unsent;
  private boolean taking;

  /**
   * Creates the connection of a client.
   *
   * @param heard runs at each request, and whenever the client has read
   */
  TcpStoreConnection(StoreSession session, Runnable heard) {
    this.session = session;
    this.heard = heard;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object frame) {
    heard.run();
    requests.add((ByteBuf) frame);
    takeRequests(context);
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    heard.run();
    takeRequests(context);
  }

  /** Carries out requests as long as the client reads the replies. */
  private void takeRequests(ChannelHandlerContext context) {
    if (taking) {
      return; // A reply was sent at once; the loop below goes on.
    }
    taking = true;
    try {
      while (!requests.isEmpty() && isRead(context)) {
        ByteBuf request = requests.remove();
        try {
          session
              .reply(request.nioBuffer())
              .whenComplete((reply, failure) -> onLoop(context, reply, failure));
        } finally {
          request.release();
        }
      }
    } finally {
      taking = false;
    }
    context.channel().config().setAutoRead(requests.isEmpty() && isRead(context));
  }

  private boolean isRead(ChannelHandlerContext context) {
    return unsent <= MOST_UNSENT_BYTES && context.channel().isWritable();
  }

  private void onLoop(ChannelHandlerContext context, StoreMessage reply, Throwable failure) {
    if (context.executor().inEventLoop()) {
      send(context, reply, failure);
    } else {
      context.executor().execute(() -> send(context, reply, failure));
    }
  }

  private void send(ChannelHandlerContext context, StoreMessage reply, Throwable failure) {
    if (failure != null) {
      if (!(failure instanceof CancellationException)) {
        lost(context, failure);
      }
      return;
    }
    unsent += reply.length();
    context
        .writeAndFlush(new MessageChunks(reply))
        .addListener(
            sent -> {
              unsent -= reply.length();
              if (sent.isSuccess()) {
                takeRequests(context);
              } else {
                lost(context, sent.cause());
              }
            });
  }

  private static void lost(ChannelHandlerContext context, Throwable cause) {
    if (cause instanceof IOException) {
      LOG.debug("Lost the store client at {}", context.channel().remoteAddress(), cause);
    } else {
      LOG.warn(
          "Closes the connection of the store client at {}, as it cannot be served",
          context.channel().remoteAddress(),
          cause);
    }
    context.close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    session.close();
    requests.forEach(ByteBuf::release);
    requests.clear();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    lost(context, cause);
  }
}
