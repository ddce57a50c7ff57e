package org.sparkcollectives.engine;

import io.netty.channel.ChannelPipeline;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.DType;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.internal.failure.GroupMonitor;
import org.sparkcollectives.membership.Membership;
import org.sparkcollectives.pointtopoint.LocalMessagePath;
import org.sparkcollectives.pointtopoint.MessageMatcher;
import org.sparkcollectives.pointtopoint.MessagePath;
import org.sparkcollectives.store.net.ConnectionId;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Lane;
import org.sparkcollectives.transport.Locality;
import org.sparkcollectives.transport.Pair;
import org.sparkcollectives.transport.Progress;
import org.sparkcollectives.transport.Reach;
import org.sparkcollectives.transport.heap.HeapPairs;
import org.sparkcollectives.transport.heap.HeapRegion;
import org.sparkcollectives.transport.shm.SharedTensors;
import org.sparkcollectives.transport.shm.ShmRegion;
import org.sparkcollectives.transport.tcp.ConnectionKind;
import org.sparkcollectives.transport.tcp.RankConnector;
import org.sparkcollectives.transport.tcp.SocketWait;
import org.sparkcollectives.transport.tcp.TcpPairs;
import org.sparkcollectives.transport.tcp.TcpTransport;

/** The paths of one rank to its peers: over the heap within the JVM, over TCP to all others. */
public final class GroupPaths implements TcpTransport.Receiver {

  /** The shortest sleep between two checks; it grows up to the longest. */
  private static final long SHORTEST_LOOK_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private static final long LONGEST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final Logger LOG = LoggerFactory.getLogger(GroupPaths.class);

  private final Membership members;
  private final String id;
  private final CollectiveNode node;
  private final MessageMatcher matcher;
  private final CollectiveNode.LocalGroup local;
  private final GroupMonitor monitor;
  private final boolean heapAllowed;
  private final Locality hosts;
  private final GroupLane lane;
  private final HeapPairs heapPairs;
  private final RankConnector ranks;
  private final MessagePaths messages;

  /** The connections of each stripe. */
  private final List<TcpPairs> tcpPairs = new ArrayList<>();

  private final List<SocketWait> waits = new ArrayList<>();

  /**
   * The tensors that this rank allocates in memory that other processes see; null if it has no such
   * memory.
   */
  private final SharedTensors memory;

  /** The same tensors, if all ranks of the group see them; else null. */
  private SharedTensors tensors;

  private ShmRegion hostRegion;

  /**
   * Makes no connection yet.
   *
   * @param waiter waits in the thread of an operation
   * @param hosts with which others each rank shares a host's memory
   * @param sharedMemory where that lies; null if this rank has none
   */
  public GroupPaths(
      Membership members,
      CollectiveNode node,
      CollectiveNode.LocalGroup local,
      GroupMonitor monitor,
      Waiter waiter,
      boolean heapAllowed,
      Locality hosts,
      Path sharedMemory) {
    this.members = members;
    this.id = members.id();
    this.node = node;
    this.local = local;
    this.monitor = monitor;
    this.memory = sharedMemory == null ? null : new SharedTensors(sharedMemory);
    this.heapAllowed = heapAllowed;
    int rank = members.rank();
    this.matcher = local.matchers().of(rank);
    this.ranks =
        new RankConnector(
            node.tcp(), id, rank, members.secret(), members.endpoints(), monitor::connectionTo);
    this.messages = new MessagePaths(ranks, matcher);
    this.hosts = hosts;
    Progress progress = waiter.progress();
    local.heap().join(rank, progress);
    local.heap().listen(rank, monitor::connectionTo);
    this.lane =
        new GroupLane(
            rank,
            members.size(),
            this::pairTo,
            hosts.places() == 1 ? Reach.HOST : Reach.NETWORK,
            progress);
    HeapRegion region = divide(rank, hosts, progress);
    if (sharedMemory != null
        && !members.isOneNode()
        && members.ranksOnThisHost() == members.size()) {
      tensors = memory;
      hostRegion =
          new ShmRegion(
              tensors, lane, region == null, progress, waiter.sockets().bell(), lane::current);
      waiter.sockets().register(hostRegion);
      lane.share(hostRegion);
    }
    this.heapPairs = new HeapPairs(local.heap(), rank, progress, lane::current, region);
    connect(waiter, sharedMemory);
  }

  /** Creates the paths over TCP of one more stripe. */
  private TcpPairs connect(Waiter waiter, Path sharedMemory) {
    TcpPairs pairs =
        new TcpPairs(
            ranks,
            tcpPairs.size(),
            waiter.progress(),
            waiter.sockets(),
            sharedMemory,
            lane::current);
    tcpPairs.add(pairs);
    waits.add(waiter.sockets());
    return pairs;
  }

  /**
   * Makes large operations use several connections to each peer, where ranks reach each other over
   * TCP only. Called before {@link #open}.
   *
   * @param partFailed ends the group when a part of an operation fails; does not block
   */
  public void stripe(TcpConnections connections, Consumer<Throwable> partFailed) {
    boolean somePathIsTcp = lane.region() == null && hosts.places() > 1;
    if (connections.perPeer() == 1 || !somePathIsTcp) {
      return;
    }
    StripeLane[] further = new StripeLane[connections.perPeer() - 1];
    for (int i = 0; i < further.length; i++) {
      Waiter waiter = Waiter.of(monitor, connections.spin());
      further[i] = new StripeLane(members.rank(), members.size(), connect(waiter, null), waiter);
    }
    StripeThreads threads =
        new StripeThreads(
            node.executor(), partFailed, monitor.state()::interrupted, connections.spin());
    lane.stripe(
        new GroupStripes(lane, further, connections.smallestBytes(), threads),
        ranks -> hosts.areApart(ranks) && (!heapAllowed || members.nodes().areApart(ranks)));
  }

  /**
   * Determines which ranks see each other's heap, with the same result on all ranks of the group.
   *
   * @return the region of this JVM's ranks; null if no ranks of the group share a JVM
   */
  private HeapRegion divide(int rank, Locality hosts, Progress progress) {
    Locality nodes = members.nodes();
    int[] here = nodes.ranks(nodes.place(rank));
    if (!heapAllowed || nodes.largest() == 1) {
      lane.divide(null, nodes, hosts);
      return null;
    }
    HeapRegion region = new HeapRegion(local.heap(), rank, here, progress, lane::current);
    if (nodes.places() == 1) {
      lane.share(region);
    } else {
      lane.divide(region, nodes, hosts);
    }
    return region;
  }

  /** Lets peers connect from now on. */
  public void open() {
    node.tcp().register(id, members.rank(), members.secret(), this);
  }

  private boolean overHeap(int peer) {
    return heapAllowed && members.isLocal(peer);
  }

  /** Returns a tensor of zeros where all ranks of the group can see it, if there is such memory. */
  HostTensor allocate(DType dtype, long count) {
    if (tensors != null) {
      try {
        return tensors.allocate(dtype, count);
      } catch (IOException | UnsupportedOperationException e) {
        LOG.info(
            "{} allocates on the heap what other processes cannot see: {}", monitor, e.toString());
      }
    }
    return HostTensor.allocate(dtype, count);
  }

  SharedMemory allocateShared(long bytes) throws IOException {
    if (memory == null) {
      throw new IOException(id + " may not share memory: shm is not among its transports");
    }
    return memory.allocateShared(bytes);
  }

  /** Returns the peers of the group's collectives. */
  public Lane lane() {
    return lane;
  }

  private Pair pairTo(int peer) {
    return overHeap(peer) ? heapPairs.pair(peer) : tcpPairs.get(0).pair(peer);
  }

  /** Returns the path of messages to a peer. */
  public MessagePath messagesTo(int peer) {
    return overHeap(peer)
        ? new LocalMessagePath(members.rank(), local.matchers().of(peer), node.executor())
        : messages.to(peer);
  }

  @Override
  public void accepted(ConnectionId connection, ChannelPipeline pipeline) {
    int peer = connection.from();
    boolean isPeer = peer >= 0 && peer < members.size() && peer != members.rank();
    ConnectionKind kind = ConnectionKind.ofCode(connection.kind());
    boolean isKnown = kind.use() != ConnectionKind.Use.UNKNOWN && kind.stripe() < tcpPairs.size();
    if (!isPeer || !isKnown) {
      pipeline.channel().close();
    } else if (kind.use() == ConnectionKind.Use.MESSAGES) {
      messages.accepted(peer, pipeline);
    } else {
      tcpPairs.get(kind.stripe()).accepted(peer, kind, pipeline.channel());
    }
  }

  /**
   * Closes all paths, in good order unless the group has failed. Blocks until all data has been
   * sent, for {@code atMost} at the most: an operation may be done while its last bytes are still
   * here, because the peer is busy.
   *
   * @param lastCollective the number of this rank's last collective, -1 for none
   * @param idle whether no thread uses the paths any more
   */
  public void close(long lastCollective, Duration atMost, boolean idle) {
    node.tcp().unregister(id, members.rank(), this);
    matcher.close();
    if (!monitor.state().failed()) {
      local.heap().leave(members.rank(), lastCollective);
      tcpPairs.forEach(pairs -> pairs.close(lastCollective));
      messages.close(lastCollective);
      awaitClosed(atMost);
    }
    tcpPairs.forEach(TcpPairs::breakOff);
    messages.breakOff();
    if (idle) {
      tcpPairs.forEach(TcpPairs::free);
      if (hostRegion != null) {
        hostRegion.free();
        tensors.freeNeighbours();
      }
    }
    if (memory != null) {
      memory.close();
    }
    waits.forEach(SocketWait::close);
  }

  private void awaitClosed(Duration atMost) {
    long start = System.nanoTime();
    long look = SHORTEST_LOOK_NANOS;
    while (!isClosed() && !monitor.state().failed()) {
      if (System.nanoTime() - start > atMost.toNanos()) {
        LOG.warn(
            "{} is closed, but peers have not taken within {} what was sent to them: they may miss"
                + " it",
            monitor,
            atMost);
        return;
      }
      LockSupport.parkNanos(this, look);
      look = Math.min(LONGEST_LOOK_NANOS, look * 2);
    }
  }

  private boolean isClosed() {
    return tcpPairs.stream().allMatch(TcpPairs::isClosed) && messages.isClosed();
  }
}
