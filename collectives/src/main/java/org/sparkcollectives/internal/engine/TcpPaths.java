package org.sparkcollectives.internal.engine;

import io.netty.channel.ChannelPipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.sparkcollectives.internal.pointtopoint.MessageMatcher;
import org.sparkcollectives.internal.pointtopoint.MessagePath;
import org.sparkcollectives.internal.pointtopoint.TcpMessagePath;
import org.sparkcollectives.internal.pointtopoint.TcpMessageReceiver;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.shm.SharedFolder;
import org.sparkcollectives.internal.transport.tcp.ConnectionKind;
import org.sparkcollectives.internal.transport.tcp.PendingConnections;
import org.sparkcollectives.internal.transport.tcp.RankConnector;
import org.sparkcollectives.internal.transport.tcp.StreamPairs;
import org.sparkcollectives.internal.transport.tcp.TcpTransport;
import org.sparkcollectives.net.ConnectionId;
import org.sparkcollectives.net.DescriptorsExhaustedException;
import org.sparkcollectives.store.Backoff;
import org.sparkcollectives.store.Deadline;

/**
 * The connections of one rank to the ranks of its group in other JVMs: those of collectives, stripe
 * by stripe, and those of messages.
 */
final class TcpPaths implements TcpTransport.Receiver {

  /** The shortest sleep between two checks; it grows up to the longest. */
  private static final long SHORTEST_LOOK_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private static final long LONGEST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final TcpTransport transport;
  private final PendingConnections pending;
  private final RankConnector ranks;
  private final MessageMatcher matcher;
  private final Consumer<Throwable> failed;

  // Both are complete before connections arrive.
  private final List<StreamPairs> stripes = new ArrayList<>();
  private final List<Waiter> waiters = new ArrayList<>();

  private final List<TcpMessagePath> outgoing = new CopyOnWriteArrayList<>();
  private final List<TcpMessageReceiver> incoming = new CopyOnWriteArrayList<>();

  /**
   * Creates the paths of a rank, without a stripe yet.
   *
   * @param listeners hear, each for one peer, how a connection to it ends
   * @param matcher where this rank's messages arrive
   * @param failed ends the group because this rank cannot be connected to; does not block
   */
  TcpPaths(
      TcpTransport transport,
      Membership members,
      IntFunction<ConnectionListener> listeners,
      MessageMatcher matcher,
      Consumer<Throwable> failed) {
    this.transport = transport;
    this.failed = failed;
    this.pending = new PendingConnections(transport);
    this.ranks =
        new RankConnector(
            pending,
            members.id(),
            members.rank(),
            members.secret(),
            members.endpoints(),
            listeners);
    this.matcher = matcher;
  }

  /**
   * Adds a stripe, before {@link #open}.
   *
   * @param waiter of the thread that uses it
   * @param sharedMemory where memory for ranks of this host is made; null if the stripe uses none
   * @param current the operation that this rank is in
   */
  StreamPairs addStripe(
      Waiter waiter, SharedFolder sharedMemory, Supplier<OperationHeader> current) {
    StreamPairs pairs =
        new StreamPairs(
            ranks, stripes.size(), waiter.progress(), waiter.sockets(), sharedMemory, current);
    stripes.add(pairs);
    waiters.add(waiter);
    return pairs;
  }

  /** Lets peers connect from now on. */
  void open() {
    transport.register(ranks.group(), ranks.rank(), ranks.secret(), this);
  }

  /** Returns the pair of the first stripe with a peer. */
  Pair pair(int peer) {
    return stripes.get(0).pair(peer);
  }

  /** Returns the path of messages to a peer, which connects at the first of them. */
  MessagePath messagesTo(int peer) {
    TcpMessagePath path = new TcpMessagePath(ranks, peer);
    outgoing.add(path);
    return path;
  }

  @Override
  public void accepted(ConnectionId connection, ChannelPipeline pipeline) {
    int peer = connection.from();
    boolean isPeer = peer >= 0 && peer < ranks.endpoints().size() && peer != ranks.rank();
    ConnectionKind kind = ConnectionKind.ofCode(connection.kind());
    boolean isKnown = kind.use() != ConnectionKind.Use.UNKNOWN && kind.stripe() < stripes.size();
    if (!isPeer || !isKnown) {
      pipeline.channel().close();
    } else if (kind.use() == ConnectionKind.Use.MESSAGES) {
      incoming.add(
          TcpMessageReceiver.addTo(pipeline, peer, matcher, ranks.listeners().apply(peer)));
    } else {
      stripes.get(kind.stripe()).accepted(peer, kind, pipeline.channel());
    }
  }

  @Override
  public void cannotAccept(DescriptorsExhaustedException why) {
    failed.accept(why);
  }

  /** Returns the peers to which a connection is being made, in order. */
  List<Integer> connectingTo() {
    return pending.peers();
  }

  /** Accepts no more connections. */
  void refuse() {
    transport.unregister(ranks.group(), ranks.rank(), this);
  }

  /**
   * Closes all connections once what was sent over them has gone out. Blocks until then, until the
   * deadline, or until the group has failed.
   *
   * @param lastCollective the number of this rank's last collective, -1 for none
   * @return false if the deadline came first
   */
  boolean drain(long lastCollective, Deadline deadline, BooleanSupplier failed) {
    stripes.forEach(pairs -> pairs.close(lastCollective));
    outgoing.forEach(path -> path.close(lastCollective));
    incoming.forEach(receiver -> receiver.close(lastCollective));
    return Backoff.between(SHORTEST_LOOK_NANOS, LONGEST_LOOK_NANOS)
        .until(() -> isClosed() || failed.getAsBoolean(), deadline);
  }

  private boolean isClosed() {
    return stripes.stream().allMatch(StreamPairs::isClosed)
        && outgoing.stream().allMatch(TcpMessagePath::isClosed)
        && incoming.stream().allMatch(TcpMessageReceiver::isClosed);
  }

  /** Breaks all connections that are left; what was sent over them may be lost. */
  void breakOff() {
    stripes.forEach(StreamPairs::breakOff);
    outgoing.forEach(TcpMessagePath::breakOff);
    incoming.forEach(TcpMessageReceiver::breakOff);
  }

  /** Frees the memory of all stripes; when no thread can touch it any more. */
  void free() {
    stripes.forEach(StreamPairs::free);
  }

  /** Closes what the threads of all stripes sleep at. */
  void closeWaiters() {
    waiters.forEach(waiter -> waiter.sockets().close());
  }
}
