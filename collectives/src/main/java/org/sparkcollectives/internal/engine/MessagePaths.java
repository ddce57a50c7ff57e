package org.sparkcollectives.internal.engine;

import io.netty.channel.ChannelPipeline;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.sparkcollectives.internal.pointtopoint.MessageMatcher;
import org.sparkcollectives.internal.pointtopoint.MessagePath;
import org.sparkcollectives.internal.pointtopoint.TcpMessagePath;
import org.sparkcollectives.internal.pointtopoint.TcpMessageReceiver;
import org.sparkcollectives.internal.transport.tcp.RankConnector;

/** The paths of one rank's messages to and from ranks of its group in other JVMs. Thread-safe. */
final class MessagePaths {

  private final RankConnector ranks;
  private final MessageMatcher matcher;
  private final List<TcpMessagePath> outgoing = new CopyOnWriteArrayList<>();
  private final List<TcpMessageReceiver> incoming = new CopyOnWriteArrayList<>();

  /** Creates the paths of one rank, whose messages arrive at {@code matcher}. */
  MessagePaths(RankConnector ranks, MessageMatcher matcher) {
    this.ranks = ranks;
    this.matcher = matcher;
  }

  /** Returns the path to a peer, which connects at the first message. */
  MessagePath to(int peer) {
    TcpMessagePath path = new TcpMessagePath(ranks, peer);
    outgoing.add(path);
    return path;
  }

  /** Accepts the connection of a peer. Called on the connection's event loop. */
  void accepted(int peer, ChannelPipeline pipeline) {
    TcpMessageReceiver receiver =
        TcpMessageReceiver.addTo(pipeline, peer, matcher, ranks.listeners().apply(peer));
    incoming.add(receiver);
  }

  /** Closes all paths once buffered data has been sent; does not wait for that. */
  void close(long lastCollective) {
    outgoing.forEach(path -> path.close(lastCollective));
    incoming.forEach(receiver -> receiver.close(lastCollective));
  }

  /** Closes all paths at once. */
  void breakOff() {
    outgoing.forEach(TcpMessagePath::breakOff);
    incoming.forEach(TcpMessageReceiver::breakOff);
  }

  /** Returns whether no connection is left. */
  boolean isClosed() {
    return outgoing.stream().allMatch(TcpMessagePath::isClosed)
        && incoming.stream().allMatch(TcpMessageReceiver::isClosed);
  }
}
