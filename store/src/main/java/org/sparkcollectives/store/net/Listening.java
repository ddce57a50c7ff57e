package org.sparkcollectives.store.net;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.net.BindException;
import java.net.InetSocketAddress;

/** Opens a listening socket on a port, or on one of the ports after it. */
public final class Listening {

  private static final int LAST_PORT = 65_535;

  private Listening() {}

  /**
   * Binds. Blocks until the operating system has answered.
   *
   * @param host the address to listen on, an IPv6 literal with or without brackets
   * @param port the first port to try; 0 for any that is free
   * @param retries how many further ports are tried while one is in use
   * @throws BindException if no port is free, or the address is not this machine's
   */
  public static Channel bind(ServerBootstrap bootstrap, String host, int port, int retries)
      throws BindException {
    String address = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    int last = port == 0 ? 0 : Math.min(LAST_PORT, port + retries);
    Throwable cause = null;
    for (int candidate = port; candidate <= last; candidate++) {
      ChannelFuture bound =
          bootstrap.bind(new InetSocketAddress(address, candidate)).awaitUninterruptibly();
      if (bound.isSuccess()) {
        return bound.channel();
      }
      cause = bound.cause();
    }
    String ports = last == port ? "port " + port : "ports " + port + " to " + last;
    BindException failure =
        new BindException("Cannot listen on " + host + " " + ports + ": " + cause.getMessage());
    failure.initCause(cause);
    throw failure;
  }
}
