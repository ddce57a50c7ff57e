package org.sparkcollectives.engine;

import io.netty.channel.ChannelPipeline;
import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.pointtopoint.LocalMessagePath;
import org.sparkcollectives.pointtopoint.MessageMatcher;
import org.sparkcollectives.pointtopoint.MessagePath;
import org.sparkcollectives.pointtopoint.TcpMessagePath;
import org.sparkcollectives.pointtopoint.TcpMessageReceiver;
import org.sparkcollectives.store.net.ConnectionId;
import org.sparkcollectives.transport.Lane;
import org.sparkcollectives.transport.Pair;
import org.sparkcollectives.transport.PathListener;
import org.sparkcollectives.transport.Progress;
import org.sparkcollectives.transport.heap.HeapPairs;
import org.sparkcollectives.transport.heap.HeapRegion;
import org.sparkcollectives.transport.tcp.TcpPairs;
import org.sparkcollectives.transport.tcp.TcpTransport;

/** The paths of one rank to its peers: over the heap within the JVM, over TCP to all others. */
final class GroupPaths implements TcpTransport.Receiver {

  private final Membership members;
  private final String id;
  private final CollectiveNode node;
  private final MessageMatcher matcher;
  private final CollectiveNode.LocalGroup local;
  private final GroupLife life;
  private final boolean heapAllowed;
  private final GroupLane lane;
  private final HeapPairs heapPairs;
  private final TcpPairs tcpPairs;
  private final List<TcpMessagePath> outgoingMessages = new ArrayList<>();
  private final List<TcpMessageReceiver> incomingMessages = new ArrayList<>();

  GroupPaths(
      Membership members,
      CollectiveNode node,
      CollectiveNode.LocalGroup local,
      GroupLife life,
      Progress progress,
      boolean heapAllowed) {
    this.members = members;
    this.id = members.id();
    this.node = node;
    this.local = local;
    this.life = life;
    this.heapAllowed = heapAllowed;
    int rank = members.rank();
    this.matcher = local.matchers().of(rank);
    local.heap().join(rank, progress);
    this.lane = new GroupLane(rank, members.size(), this::pairTo, progress);
    if (heapAllowed && members.isOneNode()) {
      lane.share(new HeapRegion(local.heap(), rank, members.size(), progress, lane::current));
    }
    this.heapPairs = new HeapPairs(local.heap(), rank, progress, lane::current);
    this.tcpPairs =
        new TcpPairs(
            node.tcp(),
            id,
            rank,
            members.size(),
            members.secret(),
            members.endpoints()::get,
            progress,
            lane::current,
            listener());
  }

  /** From now on peers can connect. */
  void open() {
    node.tcp().register(id, members.rank(), members.secret(), this);
  }

  private PathListener listener() {
    return new PathListener() {
      @Override
      public void broken(int peer, TransportException cause) {
        life.pathBroken(peer, cause);
      }

      @Override
      public void finished(int peer) {
        // Whether somebody still needs that rank is decided by numbers, see Departures.
      }

      @Override
      public void refused(int peer, CollectiveMismatchException cause) {
        life.refused(cause);
      }
    };
  }

  private boolean overHeap(int peer) {
    return heapAllowed && members.isLocal(peer);
  }

  /** The peers of the group's collectives. */
  Lane lane() {
    return lane;
  }

  private Pair pairTo(int peer) {
    return overHeap(peer) ? heapPairs.pair(peer) : tcpPairs.pair(peer);
  }

  /** The way for messages to a peer. */
  MessagePath messagesTo(int peer) {
    if (overHeap(peer)) {
      return new LocalMessagePath(members.rank(), local.matchers().of(peer), node.executor());
    }
    ConnectionId connection = new ConnectionId(id, members.rank(), peer, TcpMessagePath.LANE);
    TcpMessagePath path =
        new TcpMessagePath(
            setup ->
                node.tcp()
                    .connect(members.endpoints().get(peer), connection, members.secret(), setup),
            cause -> life.pathBroken(peer, cause));
    synchronized (outgoingMessages) {
      outgoingMessages.add(path);
    }
    return path;
  }

  @Override
  public void accepted(ConnectionId connection, ChannelPipeline pipeline) {
    boolean isPeer =
        connection.from() >= 0
            && connection.from() < members.size()
            && connection.from() != members.rank();
    if (isPeer && connection.lane() == TcpPairs.LANE) {
      tcpPairs.accepted(connection, pipeline.channel());
    } else if (isPeer && connection.lane() == TcpMessagePath.LANE) {
      TcpMessageReceiver receiver =
          TcpMessageReceiver.addTo(
              pipeline,
              connection.from(),
              matcher,
              cause -> life.pathBroken(connection.from(), cause));
      synchronized (incomingMessages) {
        incomingMessages.add(receiver);
      }
    } else {
      pipeline.channel().close();
    }
  }

  /** Closes all paths, in good order unless the group has failed. */
  void close() {
    boolean inGoodOrder = !life.failure().failed();
    node.tcp().unregister(id, members.rank(), this);
    matcher.close();
    tcpPairs.close(inGoodOrder);
    synchronized (outgoingMessages) {
      outgoingMessages.forEach(path -> path.close(inGoodOrder));
    }
    synchronized (incomingMessages) {
      incomingMessages.forEach(receiver -> receiver.close(inGoodOrder));
    }
  }
}
