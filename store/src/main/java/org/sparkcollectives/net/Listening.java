package org.sparkcollectives.net;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.function.Consumer;

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
   * @param onShortage hears on the event loop, again and again, when for some seconds connections
   *     could not be accepted for lack of file descriptors
   * @throws BindException if no port is free, or the address is not this machine's
   * @throws DescriptorsExhaustedException if there is no file descriptor for the socket
   */
  public static Channel bind(
      ServerBootstrap bootstrap,
      String host,
      int port,
      int retries,
      Consumer<DescriptorsExhaustedException> onShortage)
      throws BindException {
    String address = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    int last = port == 0 ? 0 : Math.min(LAST_PORT, port + retries);
    String ports = last == port ? "port " + port : "ports " + port + " to " + last;
    Throwable cause = null;
    for (int candidate = port; candidate <= last; candidate++) {
      InetSocketAddress local = new InetSocketAddress(address, candidate);
      if (local.isUnresolved()) {
        throw failure(host, ports, "there is no host of this name", null);
      }
      ChannelFuture bound = bootstrap.bind(local).awaitUninterruptibly();
      if (bound.isSuccess()) {
        Channel listener = bound.channel();
        AcceptFailures.addTo(
            listener.pipeline(), listener.localAddress(), DescriptorShortage.PATIENCE, onShortage);
        return listener;
      }
      cause = DescriptorsExhaustedException.explain(bound.cause());
      if (cause instanceof DescriptorsExhaustedException exhausted) {
        throw exhausted;
      }
      if (!isOfThisMachine(local.getAddress())) {
        throw failure(host, ports, "it is not an address of this machine", cause);
      }
    }
    throw failure(host, ports, cause.getMessage(), cause);
  }

  private static boolean isOfThisMachine(InetAddress address) {
    try {
      return address.isAnyLocalAddress()
          || address.isLoopbackAddress()
          || NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException e) {
      return true; // The host is unknown; then the cause of the failure to bind is the better
      // message.
    }
  }

  private static BindException failure(String host, String ports, String why, Throwable cause) {
    BindException failure =
        new BindException("Cannot listen on " + host + " " + ports + ": " + why);
    failure.initCause(cause);
    return failure;
  }
}
