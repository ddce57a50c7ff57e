package org.sparkcollectives.internal.engine;

import io.netty.channel.ChannelPipeline;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.DType;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.internal.pointtopoint.LocalMessagePath;
import org.sparkcollectives.internal.pointtopoint.MessageMatcher;
import org.sparkcollectives.internal.pointtopoint.MessagePath;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.transport.Communicator;
import org.sparkcollectives.internal.transport.GroupMemory;
import org.sparkcollectives.internal.transport.HeapMemory;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Progress;
import org.sparkcollectives.internal.transport.Reach;
import org.sparkcollectives.internal.transport.heap.HeapPair;
import org.sparkcollectives.internal.transport.heap.HeapRegion;
import org.sparkcollectives.internal.transport.shm.SharedFolder;
import org.sparkcollectives.internal.transport.shm.SharedTensors;
import org.sparkcollectives.internal.transport.shm.ShmMemory;
import org.sparkcollectives.internal.transport.shm.ShmRegion;
import org.sparkcollectives.internal.transport.tcp.ConnectionKind;
import org.sparkcollectives.internal.transport.tcp.RankConnector;
import org.sparkcollectives.internal.transport.tcp.SocketWait;
import org.sparkcollectives.internal.transport.tcp.StreamPairs;
import org.sparkcollectives.internal.transport.tcp.TcpTransport;
import org.sparkcollectives.internal.work.GroupMonitor;
import org.sparkcollectives.net.ConnectionId;
import org.sparkcollectives.spi.LogContext;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.store.Backoff;
import org.sparkcollectives.store.Deadline;

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
  private final GroupTransports transports;
  private final GroupCommunicator communicator;
  private final IntFunction<Pair> heapPairs;
  private final RankConnector ranks;
  private final MessagePaths messages;

  /** The connections of each stripe. */
  private final List<StreamPairs> streamPairs = new ArrayList<>();

  private final List<SocketWait> waits = new ArrayList<>();

  /** The tensors that this rank allocates in memory that other processes of its host see. */
  private final Optional<SharedTensors> memory;

  /** The memory of the host, if all ranks of the group are on it, and not all in one JVM. */
  private final Optional<ShmRegion> host;

  /**
   * Creates the paths, without a connection yet.
   *
   * @param waiter waits in the thread of an operation
   */
  public GroupPaths(
      Membership members,
      CollectiveNode node,
      CollectiveNode.LocalGroup local,
      GroupMonitor monitor,
      Waiter waiter,
      GroupTransports transports) {
    this.members = members;
    this.id = members.id();
    this.node = node;
    this.local = local;
    this.monitor = monitor;
    this.transports = transports;
    Optional<SharedFolder> folder =
        transports.sharedMemory().map(path -> new SharedFolder(path, this::logging));
    this.memory = folder.map(SharedTensors::new);
    int rank = members.rank();
    this.matcher = local.matchers().of(rank);
    this.ranks =
        new RankConnector(
            node.tcp(), id, rank, members.secret(), members.endpoints(), monitor::connectionTo);
    this.messages = new MessagePaths(ranks, matcher);
    Progress progress = waiter.progress();
    local.heap().join(rank, progress);
    local.heap().listen(rank, monitor::connectionTo);
    this.communicator =
        new GroupCommunicator(
            rank,
            members.size(),
            this::pairTo,
            transports.hosts().nodes() == 1 ? Reach.HOST : Reach.NETWORK,
            progress);
    Optional<HeapRegion> heap = heap(progress);
    this.host = memory.flatMap(tensors -> host(tensors, waiter, heap.isEmpty()));
    locate(heap);
    this.heapPairs =
        peer ->
            new HeapPair(
                local.heap(), rank, peer, progress, communicator::current, heap.orElse(null));
    connect(waiter, folder.orElse(null));
  }

  /** Returns the heap of this JVM's ranks; empty if no ranks of the group share a JVM. */
  private Optional<HeapRegion> heap(Progress progress) {
    Locality nodes = transports.nodes();
    if (!transports.heap() || nodes.largest() == 1) {
      return Optional.empty();
    }
    int[] here = nodes.ranks(nodes.node(members.rank()));
    return Optional.of(
        new HeapRegion(local.heap(), members.rank(), here, progress, communicator::current));
  }

  /**
   * Returns the memory of the host, if all ranks of the group see it.
   *
   * @param stages whether tensors that lie elsewhere pass through it
   */
  private Optional<ShmRegion> host(SharedTensors tensors, Waiter waiter, boolean stages) {
    if (members.isOneNode() || transports.hosts().nodes() > 1) {
      return Optional.empty();
    }
    ShmRegion shared =
        new ShmRegion(
            tensors,
            communicator,
            stages,
            waiter.progress(),
            waiter.sockets().bell(),
            communicator::current);
    waiter.sockets().register(shared);
    return Optional.of(shared);
  }

  /** Runs what may log something of the operation that this rank is in. */
  private void logging(Runnable body) {
    OperationHeader current = communicator.current();
    LogContext context = monitor.logContext();
    (current == null ? context : context.during(current.toString())).run(body);
  }

  /** Finds which ranks see each other's memory; all ranks of the group find alike. */
  private void locate(Optional<HeapRegion> heap) {
    Locality hosts = transports.hosts();
    boolean oneHeap = heap.isPresent() && transports.isOneHeap();
    Optional<GroupMemory> shared =
        oneHeap
            ? heap.map(HeapMemory::new)
            : host.map(each -> new ShmMemory(each, communicator::current));
    Optional<Hierarchy> hierarchy =
        oneHeap
            ? Optional.empty()
            : heap.map(region -> Hierarchy.of(communicator, transports.nodes(), region, hosts))
                .or(() -> Hierarchy.messages(communicator, 0, List.of(hosts)));
    List<Runnable> onFailure = new ArrayList<>();
    heap.ifPresent(each -> onFailure.add(() -> logging(each::abandon)));
    host.ifPresent(each -> onFailure.add(each::abandon));
    communicator.locate(shared.orElse(GroupMemory.NONE), hierarchy, heap, onFailure);
  }

  /** Creates the paths over TCP of one more stripe. */
  private StreamPairs connect(Waiter waiter, SharedFolder sharedMemory) {
    StreamPairs pairs =
        new StreamPairs(
            ranks,
            streamPairs.size(),
            waiter.progress(),
            waiter.sockets(),
            sharedMemory,
            communicator::current);
    streamPairs.add(pairs);
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
    boolean somePathIsTcp = !transports.isOneHeap() && transports.hosts().nodes() > 1;
    if (connections.perPeer() == 1 || !somePathIsTcp) {
      return;
    }
    StripeCommunicator[] further = new StripeCommunicator[connections.perPeer() - 1];
    for (int i = 0; i < further.length; i++) {
      Waiter waiter = Waiter.of(monitor, connections.spin());
      further[i] =
          new StripeCommunicator(members.rank(), members.size(), connect(waiter, null), waiter);
    }
    StripeThreads threads =
        new StripeThreads(
            monitor.executor(), partFailed, monitor.state()::interrupted, connections.spin());
    communicator.stripe(
        new GroupStripes(communicator, further, connections.smallestBytes(), threads),
        transports::areOverTcpOnly);
  }

  /** Lets peers connect from now on. */
  public void open() {
    node.tcp().register(id, members.rank(), members.secret(), this);
  }

  private boolean overHeap(int peer) {
    return transports.heap() && members.isLocal(peer);
  }

  /** Returns a tensor of zeros where all ranks of the group can see it, if there is such memory. */
  HostTensor allocate(DType dtype, long count) {
    if (host.isPresent()) {
      try {
        return memory.orElseThrow().allocate(dtype, count);
      } catch (IOException | UnsupportedOperationException e) {
        monitor
            .logContext()
            .run(
                () ->
                    LOG.info(
                        "{} allocates on the heap what other processes cannot see: {}",
                        monitor,
                        e.toString()));
      }
    }
    return HostTensor.allocate(dtype, count);
  }

  SharedMemory allocateShared(long bytes) throws IOException {
    if (memory.isEmpty()) {
      throw new IOException(id + " may not share memory: shm is not among its transports");
    }
    return memory.get().allocateShared(bytes);
  }

  /** Returns the peers of the group's collectives. */
  public Communicator communicator() {
    return communicator;
  }

  private Pair pairTo(int peer) {
    return overHeap(peer) ? heapPairs.apply(peer) : streamPairs.get(0).pair(peer);
  }

  /** Returns the path of messages to a peer. */
  public MessagePath messagesTo(int peer) {
    return overHeap(peer)
        ? new LocalMessagePath(members.rank(), local.matchers().of(peer), monitor.executor())
        : messages.to(peer);
  }

  @Override
  public void accepted(ConnectionId connection, ChannelPipeline pipeline) {
    int peer = connection.from();
    boolean isPeer = peer >= 0 && peer < members.size() && peer != members.rank();
    ConnectionKind kind = ConnectionKind.ofCode(connection.kind());
    boolean isKnown =
        kind.use() != ConnectionKind.Use.UNKNOWN && kind.stripe() < streamPairs.size();
    if (!isPeer || !isKnown) {
      pipeline.channel().close();
    } else if (kind.use() == ConnectionKind.Use.MESSAGES) {
      messages.accepted(peer, pipeline);
    } else {
      streamPairs.get(kind.stripe()).accepted(peer, kind, pipeline.channel());
    }
  }

  /**
   * Closes all paths, in good order unless the group has failed. Blocks until all data has been
   * sent, or the deadline: an operation may be done while its last bytes are still here, because
   * the peer is busy.
   *
   * @param lastCollective the number of this rank's last collective, -1 for none
   * @param idle whether no thread uses the paths any more
   */
  public void close(long lastCollective, Deadline deadline, boolean idle) {
    node.tcp().unregister(id, members.rank(), this);
    matcher.close();
    if (!monitor.state().failed()) {
      local.heap().leave(members.rank(), lastCollective);
      streamPairs.forEach(pairs -> pairs.close(lastCollective));
      messages.close(lastCollective);
      awaitClosed(deadline);
    }
    streamPairs.forEach(StreamPairs::breakOff);
    messages.breakOff();
    if (idle) {
      streamPairs.forEach(StreamPairs::free);
      host.ifPresent(ShmRegion::free);
      host.flatMap(each -> memory).ifPresent(SharedTensors::freeNeighbours);
    }
    memory.ifPresent(SharedTensors::close);
    waits.forEach(SocketWait::close);
  }

  private void awaitClosed(Deadline deadline) {
    Backoff backoff = Backoff.between(SHORTEST_LOOK_NANOS, LONGEST_LOOK_NANOS);
    if (!backoff.until(() -> isClosed() || monitor.state().failed(), deadline)) {
      LOG.warn(
          "{} is closed, but peers have not taken within {} what was sent to them: they may miss"
              + " it",
          monitor,
          deadline.total());
    }
  }

  private boolean isClosed() {
    return streamPairs.stream().allMatch(StreamPairs::isClosed) && messages.isClosed();
  }
}
