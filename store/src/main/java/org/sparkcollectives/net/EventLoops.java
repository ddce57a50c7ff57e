package org.sparkcollectives.net;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Netty's event loops with the channels that fit them: epoll on Linux where it is available, NIO
 * elsewhere.
 */
public final class EventLoops implements AutoCloseable {

  private static final long CLOSE_SECONDS = 5;

  private final EventLoopGroup group;
  private final boolean epoll;

  private EventLoops(EventLoopGroup group, boolean epoll) {
    this.group = group;
    this.epoll = epoll;
  }

  /**
   * Starts event loops.
   *
   * @param name the name of the daemon threads, after {@code collectives-}
   * @param threads how many
   * @throws DescriptorsExhaustedException if there are no file descriptors for them
   */
  public static EventLoops open(String name, int threads) {
    return Epoll.isAvailable() ? openEpoll(name, threads) : openNio(name, threads);
  }

  /**
   * Starts event loops that need no native code.
   *
   * @throws DescriptorsExhaustedException if there are no file descriptors for them
   */
  public static EventLoops openNio(String name, int threads) {
    return open(() -> nio(threads, threadFactory(name)), false);
  }

  private static EventLoops openEpoll(String name, int threads) {
    return open(() -> epoll(threads, threadFactory(name)), true);
  }

  private static EventLoops open(Supplier<EventLoopGroup> group, boolean epoll) {
    DescriptorLimit.prepare();
    try {
      return new EventLoops(group.get(), epoll);
    } catch (RuntimeException e) {
      throw DescriptorsExhaustedException.explain(e) instanceof DescriptorsExhaustedException lack
          ? lack
          : e;
    }
  }

  @SuppressWarnings("deprecation") // Netty 4.2 has another class, which 4.1 lacks.
  private static EventLoopGroup nio(int threads, ThreadFactory factory) {
    return new NioEventLoopGroup(threads, factory);
  }

  @SuppressWarnings("deprecation") // Netty 4.2 has another class, which 4.1 lacks.
  private static EventLoopGroup epoll(int threads, ThreadFactory factory) {
    return new EpollEventLoopGroup(threads, factory);
  }

  private static ThreadFactory threadFactory(String name) {
    return LibraryThreads.ofEventLoops("collectives-" + name);
  }

  /** Returns the loops. */
  public EventLoopGroup group() {
    return group;
  }

  /** Returns the class of channels that connect. */
  public Class<? extends Channel> channelType() {
    return epoll ? EpollSocketChannel.class : NioSocketChannel.class;
  }

  /** Returns the class of channels that listen. */
  public Class<? extends ServerChannel> serverChannelType() {
    return epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
  }

  /**
   * Ends the loops. Waits for them for some seconds at the most, and not at all when called on one
   * of them.
   */
  @Override
  public void close() {
    Future<?> ended = group.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS);
    if (!isOnLoop()) {
      ended.awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS);
    }
  }

  /** Returns whether the calling thread is one of these loops, and so must not wait for them. */
  public boolean isOnLoop() {
    for (EventExecutor loop : group) {
      if (loop.inEventLoop()) {
        return true;
      }
    }
    return false;
  }
}
