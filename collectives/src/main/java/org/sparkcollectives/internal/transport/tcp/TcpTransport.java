package org.sparkcollectives.internal.transport.tcp;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.net.ConnectionId;
import org.sparkcollectives.net.DescriptorShortage;
import org.sparkcollectives.net.DescriptorsExhaustedException;
import org.sparkcollectives.net.EventLoops;
import org.sparkcollectives.net.Listening;
import org.sparkcollectives.net.ProcessCounters;
import org.sparkcollectives.net.ServerHandshake;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.net.UnauthenticatedConnections;

/**
 * The TCP side of a JVM: one listening port and a few event loops for all groups and all their
 * ranks.
 *
 * <p>Connections that arrive before their group is here wait for it, as long as a handshake may
 * take.
 */
public final class TcpTransport implements Connector, AutoCloseable {

  /** Above this many unsent bytes a channel of point-to-point messages takes no more. */
  private static final WriteBufferWaterMark WATER_MARK =
      new WriteBufferWaterMark(512 * 1024, 1024 * 1024);

  private final EventLoops loops;
  private final SocketOptions sockets;
  private final TransportSecurity security;
  private final Duration connectTimeout;
  private final Receivers receivers;
  private final UnauthenticatedConnections unauthenticated = new UnauthenticatedConnections();
  private final SegmentPool segments;
  private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final Channel listener;
  private final String advertisedHost;

  /**
   * Listens. Blocks until the operating system has answered.
   *
   * @param sockets how connections are used
   * @param connectTimeout how long a connection may take from the first try to the last
   * @throws TransportException if no port could be had, or there are no file descriptors
   */
  public TcpTransport(
      ListenAddress address,
      SocketOptions sockets,
      TransportSecurity security,
      Duration connectTimeout) {
    this.sockets = sockets;
    this.security = security;
    this.connectTimeout = connectTimeout;
    this.advertisedHost = address.reachableHost();
    this.segments =
        new SegmentPool(security.isPlain() ? SegmentPool.SMALL_BYTES : TlsRecords.RECORD_BYTES);
    this.loops = openLoops();
    this.receivers = new Receivers("The port of this JVM's ranks on " + advertisedHost);
    try {
      this.listener =
          Listening.bind(
              listening(),
              address.bindHost(),
              address.port(),
              address.portRetries(),
              receivers::cannotAccept);
    } catch (DescriptorsExhaustedException e) {
      loops.close();
      throw notReachable(e);
    } catch (BindException e) {
      loops.close();
      throw new TransportException(
          "The ranks of this JVM cannot be reached: "
              + e.getMessage()
              + ". Set spark.collectives.port to a free port or 0, and spark.collectives.bindHost"
              + " to an address of this machine",
          e);
    }
  }

  private static EventLoops openLoops() {
    int threads = Math.min(4, Runtime.getRuntime().availableProcessors());
    try {
      return EventLoops.openNio("transport", threads);
    } catch (DescriptorsExhaustedException e) {
      throw notReachable(e);
    }
  }

  private static TransportException notReachable(DescriptorsExhaustedException why) {
    return new TransportException(
        "The ranks of this JVM cannot be reached: " + why.getMessage(), why);
  }

  private ServerBootstrap listening() {
    return new ServerBootstrap()
        .group(loops.group())
        .channelFactory(() -> new DirectServerSocketChannel(segments))
        .option(ChannelOption.SO_BACKLOG, 4096)
        .option(ChannelOption.SO_REUSEADDR, true)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
        .childHandler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                begin(channel);
                ServerHandshake.addTo(
                    channel.pipeline(), receivers, unauthenticated, security, connectTimeout);
              }
            });
  }

  /** Returns the address that peers connect to. */
  public InetSocketAddress address() {
    return InetSocketAddress.createUnresolved(
        advertisedHost, ((InetSocketAddress) listener.localAddress()).getPort());
  }

  /** Accepts the connections of one rank. */
  public interface Receiver {

    /** Sets up the pipeline of a connection that has proven itself. Called on its event loop. */
    void accepted(ConnectionId id, ChannelPipeline pipeline);

    /**
     * Hears, again and again, that for some seconds connections could not be accepted for lack of
     * file descriptors. Called on the port's event loop.
     */
    default void cannotAccept(DescriptorsExhaustedException why) {}
  }

  /** Accepts connections to a rank of a group from now on. */
  public void register(String group, int rank, byte[] secret, Receiver receiver) {
    receivers.register(group, rank, secret, receiver);
  }

  /** Ends accepting connections to a rank of a group, if {@code receiver} does so. */
  public void unregister(String group, int rank, Receiver receiver) {
    receivers.unregister(group, rank, receiver);
  }

  @Override
  public CompletableFuture<Channel> connect(Target target, Setup setup) {
    Bootstrap bootstrap =
        new Bootstrap()
            .group(loops.group())
            .channelFactory(() -> new DirectSocketChannel(segments))
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK);
    if (sockets.sendBuffer() > 0) {
      bootstrap.option(ChannelOption.SO_SNDBUF, sockets.sendBuffer());
    }
    DescriptorShortage shortage = new DescriptorShortage(DescriptorShortage.PATIENCE);
    return new Connecting(bootstrap, this::begin, security, connectTimeout, shortage, target, setup)
        .begin();
  }

  /** Prepares a connection that begins. */
  private void begin(Channel channel) {
    channels.add(channel);
    ProcessCounters.connected();
    channel.closeFuture().addListener(closed -> ProcessCounters.disconnected());
    KeepAlive.on(channel, sockets.silence());
  }

  /**
   * Closes the port and all connections, and ends the event loops. Blocks for some seconds at most,
   * until the port is free: a selector holds a socket that is closed until it looks again, or ends.
   */
  @Override
  public void close() {
    listener.close().awaitUninterruptibly();
    channels.close().awaitUninterruptibly();
    loops.close();
    segments.close();
  }

  /** Returns the memory that messages go through where threads use sockets themselves. */
  SegmentPool segments() {
    return segments;
  }
}
