package org.sparkcollectives.store;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.net.ConnectionId;
import org.sparkcollectives.net.DescriptorsExhaustedException;
import org.sparkcollectives.net.EventLoops;
import org.sparkcollectives.net.Listening;
import org.sparkcollectives.net.RefusalLog;
import org.sparkcollectives.net.ServerHandshake;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.net.UnauthenticatedConnections;

/** Serves a table at a TCP port, on one thread for all clients. */
final class TcpStoreListener implements AutoCloseable, ServerHandshake.Gate {

  private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(10);

  /** A chunk that the socket has not taken keeps the next one from being made. */
  private static final WriteBufferWaterMark ONE_CHUNK =
      new WriteBufferWaterMark(MessageChunks.CHUNK_BYTES / 2, MessageChunks.CHUNK_BYTES);

  private final StoreTable table;
  private final byte[] secret;
  private final EventLoops loops = openLoops();
  private final ChannelGroup channels = new DefaultChannelGroup(loops.group().next(), true);
  private final Channel listener;
  private final String address;
  private final RefusalLog refusals;
  private final UnauthenticatedConnections unauthenticated = new UnauthenticatedConnections();

  /** The hosts of the clients that are connected. */
  private final Map<String, ClientHost> clients = new HashMap<>();

  TcpStoreListener(
      StoreTable table, String host, int port, byte[] secret, TransportSecurity security) {
    this.table = table;
    this.secret = secret.clone();
    this.refusals = new RefusalLog("TcpStore at " + host + (port == 0 ? "" : ":" + port));
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(loops.group())
            .channel(loops.serverChannelType())
            // All ranks of a large job may connect at the same moment.
            .option(ChannelOption.SO_BACKLOG, 4096)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, ONE_CHUNK)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channels.add(channel);
                    ServerHandshake.addTo(
                        channel.pipeline(),
                        TcpStoreListener.this,
                        unauthenticated,
                        security,
                        HANDSHAKE_TIMEOUT);
                  }
                });
    try {
      listener =
          Listening.bind(
              bootstrap,
              host,
              port,
              0,
              // The log says so; clients wait, and then fail on their own.
              exhausted -> {});
    } catch (BindException e) {
      loops.close();
      throw new StoreException(
          "The store cannot be served: " + e.getMessage() + ". Choose another port, or 0 for any",
          e);
    } catch (DescriptorsExhaustedException e) {
      loops.close();
      throw notServed(e);
    }
    channels.add(listener);
    address = host + ":" + port();
  }

  private static EventLoops openLoops() {
    try {
      return EventLoops.open("store-server", 1);
    } catch (DescriptorsExhaustedException e) {
      throw notServed(e);
    }
  }

  private static StoreException notServed(DescriptorsExhaustedException why) {
    return new StoreException("The store cannot be served: " + why.getMessage(), why);
  }

  int port() {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  /** Returns the host as it was given, with the actual port. */
  String address() {
    return address;
  }

  @Override
  public CompletableFuture<byte[]> secretFor(ConnectionId id) {
    return id.equals(StoreFrames.CONNECTION)
        ? CompletableFuture.completedFuture(secret)
        : CompletableFuture.failedFuture(new StoreException("this is a store, not a group"));
  }

  @Override
  public void accepted(ConnectionId id, ChannelPipeline pipeline) {
    Channel channel = pipeline.channel();
    String host = hostOf(channel.remoteAddress());
    boolean isThisOne = host.equals(hostOf(channel.localAddress()));
    ClientHost clientHost;
    synchronized (this) {
      clientHost =
          clients.computeIfAbsent(host, each -> new ClientHost(isThisOne, System.nanoTime()));
      clientHost.connected();
    }
    channel.closeFuture().addListener(closed -> clientLeft(host));
    StoreFrames.addTo(pipeline);
    pipeline.addLast(
        new TcpStoreConnection(
            new StoreSession(table, ""), () -> clientHost.heard(System.nanoTime())));
  }

  private static String hostOf(SocketAddress address) {
    return address instanceof InetSocketAddress internet
        ? internet.getAddress().getHostAddress()
        : "";
  }

  private synchronized void clientLeft(String host) {
    if (clients.get(host).left()) {
      clients.remove(host);
    }
    notifyAll();
  }

  @Override
  public void refused(String remoteAddress, String why) {
    refusals.refused(remoteAddress, why);
  }

  /**
   * Waits until no client is connected. Returns false if some still are after {@code atMost}, or
   * are only of hosts that are silent, see {@link ClientHost#nanosLeft}.
   *
   * @param patience how long a host may be silent; null for as long as it likes
   */
  synchronized boolean awaitClientsGone(Duration atMost, Duration patience)
      throws InterruptedException {
    long start = System.nanoTime();
    while (!clients.isEmpty()) {
      long now = System.nanoTime();
      long left = atMost.toNanos() - (now - start);
      if (patience != null) {
        long ofHosts =
            clients.values().stream()
                .mapToLong(each -> each.nanosLeft(patience, start, now))
                .max()
                .orElseThrow();
        left = Math.min(left, ofHosts);
      }
      if (left <= 0) {
        return false;
      }
      // Rounded up, because a wait of 0 would never end.
      wait(left / 1_000_000 + 1);
    }
    return true;
  }

  /** Cuts all connections and ends the thread. */
  @Override
  public void close() {
    channels.close();
    loops.close();
  }
}
