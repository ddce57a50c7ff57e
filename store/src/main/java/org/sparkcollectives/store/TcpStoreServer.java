package org.sparkcollectives.store;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.store.net.ConnectionId;
import org.sparkcollectives.store.net.EventLoops;
import org.sparkcollectives.store.net.Listening;
import org.sparkcollectives.store.net.RefusalLog;
import org.sparkcollectives.store.net.ServerHandshake;
import org.sparkcollectives.store.net.TransportSecurity;

/**
 * The process's own handle on a store that it serves: works on the data without a network.
 *
 * <p>One event loop serves all clients; a client that waits is parked in the table. {@link
 * #close()} disconnects the clients, whose calls then fail.
 */
public final class TcpStoreServer extends TableStore {

  private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(10);
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final EventLoops loops = EventLoops.open("store-server", 1);
  private final ChannelGroup clients = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final Channel listener;

  TcpStoreServer(String host, int port, byte[] secret, TransportSecurity security) {
    super(
        new StoreTable(),
        "TcpStore at " + host + ":" + port,
        Configuration.ofSystemProperties().get(StoreConfiguration.TIMEOUT));
    Gate gate = new Gate(secret.clone());
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(loops.group())
            .channel(loops.serverChannelType())
            .option(ChannelOption.SO_BACKLOG, 1024)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    clients.add(channel);
                    security
                        .serverHandler(channel)
                        .ifPresent(handler -> channel.pipeline().addLast(handler));
                    ServerHandshake.addTo(channel.pipeline(), gate, HANDSHAKE_TIMEOUT);
                  }
                });
    try {
      listener = Listening.bind(bootstrap, host, port, 0);
    } catch (BindException e) {
      loops.close();
      throw new StoreException(
          "The store cannot be served: " + e.getMessage() + ". Choose another port, or 0 for any",
          e);
    }
  }

  /** The port that the store listens on. */
  public int port() {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  /**
   * Waits until no client is connected any more, so that none is cut off by {@link #close()}.
   *
   * @return whether that was so within the time
   */
  public boolean awaitClientsGone(Duration atMost) {
    long end = System.nanoTime() + atMost.toNanos();
    while (!clients.isEmpty()) {
      if (System.nanoTime() - end > 0 || Thread.currentThread().isInterrupted()) {
        return false;
      }
      LockSupport.parkNanos(this, LOOK_NANOS);
    }
    return true;
  }

  @Override
  void release() {
    listener.close().awaitUninterruptibly();
    clients.close().awaitUninterruptibly();
    loops.close();
    table().close();
  }

  private final class Gate implements ServerHandshake.Gate {
    private final byte[] secret;
    private final RefusalLog log = new RefusalLog(TcpStoreServer.this.toString());

    Gate(byte[] secret) {
      this.secret = secret;
    }

    @Override
    public CompletableFuture<byte[]> secretFor(ConnectionId id) {
      return id.equals(StoreFrames.CONNECTION)
          ? CompletableFuture.completedFuture(secret)
          : CompletableFuture.failedFuture(new StoreException("this is a store, not a group"));
    }

    @Override
    public void accepted(ConnectionId id, ChannelPipeline pipeline) {
      StoreFrames.addTo(pipeline);
      pipeline.addLast(new Requests(new StoreSession(table(), "")));
    }

    @Override
    public void refused(String remoteAddress, String why) {
      log.refused(remoteAddress, why);
    }
  }

  /** Answers one client. */
  private static final class Requests extends SimpleChannelInboundHandler<ByteBuf> {
    private final StoreSession session;

    Requests(StoreSession session) {
      this.session = session;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf request) {
      session
          .answer(request.nioBuffer())
          .thenAccept(
              reply -> context.writeAndFlush(Unpooled.wrappedBuffer(reply), context.voidPromise()));
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      session.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }
}
