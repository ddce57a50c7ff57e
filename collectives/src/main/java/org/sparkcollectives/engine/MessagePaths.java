package org.sparkcollectives.engine;

import io.netty.channel.ChannelPipeline;
import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.internal.failure.GroupMonitor;
import org.sparkcollectives.membership.Membership;
import org.sparkcollectives.pointtopoint.MessageMatcher;
import org.sparkcollectives.pointtopoint.MessagePath;
import org.sparkcollectives.pointtopoint.TcpMessagePath;
import org.sparkcollectives.pointtopoint.TcpMessageReceiver;
import org.sparkcollectives.store.net.ConnectionId;
import org.sparkcollectives.transport.tcp.TcpTransport;

/** The paths of one rank's messages to and from ranks of its group in other JVMs. Thread-safe. */
final class MessagePaths {

  private final Membership members;
  private final TcpTransport tcp;
  private final MessageMatcher matcher;
  private final GroupMonitor monitor;
  private final List<TcpMessagePath> outgoing = new ArrayList<>();
  private final List<TcpMessageReceiver> incoming = new ArrayList<>();

  /** Creates the paths, whose messages arrive at {@code matcher}. */
  MessagePaths(Membership members, TcpTransport tcp, MessageMatcher matcher, GroupMonitor monitor) {
    this.members = members;
    this.tcp = tcp;
    this.matcher = matcher;
    this.monitor = monitor;
  }

  /** Returns the path to a peer, which connects at the first message. */
  MessagePath to(int peer) {
    ConnectionId connection =
        new ConnectionId(members.id(), members.rank(), peer, TcpMessagePath.LANE);
    TcpMessagePath path =
        new TcpMessagePath(
            setup ->
                tcp.connect(members.endpoints().get(peer), connection, members.secret(), setup),
            monitor.connectionTo(peer));
    synchronized (outgoing) {
      outgoing.add(path);
    }
    return path;
  }

  /** Accepts the connection of a peer. Called on the connection's event loop. */
  void accepted(int peer, ChannelPipeline pipeline) {
    TcpMessageReceiver receiver =
        TcpMessageReceiver.addTo(pipeline, peer, matcher, monitor.connectionTo(peer));
    synchronized (incoming) {
      incoming.add(receiver);
    }
  }

  /** Closes all paths once buffered data has been sent; does not wait for that. */
  void close(long lastCollective) {
    outgoing().forEach(path -> path.close(lastCollective));
    incoming().forEach(receiver -> receiver.close(lastCollective));
  }

  /** Closes all paths at once. */
  void breakOff() {
    outgoing().forEach(TcpMessagePath::breakOff);
    incoming().forEach(TcpMessageReceiver::breakOff);
  }

  /** Returns whether no connection is left. */
  boolean isClosed() {
    return outgoing().stream().allMatch(TcpMessagePath::isClosed)
        && incoming().stream().allMatch(TcpMessageReceiver::isClosed);
  }

  private List<TcpMessagePath> outgoing() {
    synchronized (outgoing) {
      return List.copyOf(outgoing);
    }
  }

  private List<TcpMessageReceiver> incoming() {
    synchronized (incoming) {
      return List.copyOf(incoming);
    }
  }
}
