package org.sparkcollectives.internal.rendezvous;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** Finds the address at which other processes reach this one. */
public final class LocalAddress {

  private static final String LOOPBACK = "127.0.0.1";

  private LocalAddress() {}

  /**
   * Returns the address of this host from which {@code host} is reached; its own if it is this
   * host. Sends nothing: connecting a datagram socket only looks up the route.
   */
  public static String towards(String host, int port) {
    InetSocketAddress there = new InetSocketAddress(host, port);
    if (there.isUnresolved()) {
      // The attempt to connect reports the unknown host.
      return LOOPBACK;
    }
    if (there.getAddress().isLoopbackAddress() || there.getAddress().isAnyLocalAddress()) {
      return there.getAddress().isAnyLocalAddress()
          ? ofThisHost()
          : there.getAddress().getHostAddress();
    }
    try (DatagramSocket socket = new DatagramSocket()) {
      socket.connect(there);
      InetAddress here = socket.getLocalAddress();
      return here.isAnyLocalAddress() ? ofThisHost() : here.getHostAddress();
    } catch (IOException | UncheckedIOException e) {
      return ofThisHost();
    }
  }

  /** Returns the address that the name of this host has; the loopback address if it has none. */
  public static String ofThisHost() {
    try {
      return InetAddress.getLocalHost().getHostAddress();
    } catch (UnknownHostException e) {
      return LOOPBACK;
    }
  }
}
