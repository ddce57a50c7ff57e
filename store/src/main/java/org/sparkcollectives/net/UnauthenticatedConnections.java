package org.sparkcollectives.net;

import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The connections to a port whose clients have not yet proven that they have the secret. Their
 * number is limited: someone who opens many and sends nothing takes neither all file descriptors
 * nor all memory.
 *
 * <p>A new connection is always accepted. If there are then too many, the oldest one from the
 * address with the most is closed: a flood from one host displaces itself. A client that is
 * displaced nevertheless tries again. Thread-safe.
 */
public final class UnauthenticatedConnections {

  /** The number of such connections that a port may have. */
  public static final int LIMIT = 1024;

  private final int limit;

  /** The connections of each address, the oldest first, with the action that closes each. */
  private final Map<Object, Map<Channel, Runnable>> byAddress = new LinkedHashMap<>();

  private int count;

  /** Creates an empty set for a port. */
  public UnauthenticatedConnections() {
    this(LIMIT);
  }

  UnauthenticatedConnections(int limit) {
    this.limit = limit;
  }

  /**
   * Adds a connection that was accepted.
   *
   * @param close closes it, on a thread of any connection
   */
  void add(Channel channel, Runnable close) {
    Runnable displaced;
    synchronized (this) {
      byAddress
          .computeIfAbsent(address(channel), none -> new LinkedHashMap<>())
          .put(channel, close);
      count++;
      displaced = count > limit ? takeOldest() : null;
    }
    if (displaced != null) {
      displaced.run();
    }
  }

  /** Removes a connection that has proven itself or is closed, if it is still here. */
  synchronized void remove(Channel channel) {
    Object address = address(channel);
    Map<Channel, Runnable> same = byAddress.get(address);
    if (same != null && same.remove(channel) != null) {
      count--;
      if (same.isEmpty()) {
        byAddress.remove(address);
      }
    }
  }

  private Runnable takeOldest() {
    Map<Channel, Runnable> most = Map.of();
    for (Map<Channel, Runnable> each : byAddress.values()) {
      if (each.size() > most.size()) {
        most = each;
      }
    }
    Map.Entry<Channel, Runnable> oldest = most.entrySet().iterator().next();
    remove(oldest.getKey());
    return oldest.getValue();
  }

  private static Object address(Channel channel) {
    // A channel remembers its address even after it is closed.
    return channel.remoteAddress() instanceof InetSocketAddress remote
        ? remote.getAddress()
        : "unknown";
  }
}
