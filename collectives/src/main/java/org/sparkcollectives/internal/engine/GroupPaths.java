package org.sparkcollectives.internal.engine;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.DType;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.internal.pointtopoint.LocalMessagePath;
import org.sparkcollectives.internal.pointtopoint.MessagePath;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.transport.Communicator;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Progress;
import org.sparkcollectives.internal.transport.heap.HeapGroup;
import org.sparkcollectives.internal.transport.heap.HeapRegion;
import org.sparkcollectives.internal.transport.shm.SharedFolder;
import org.sparkcollectives.internal.transport.shm.SharedTensors;
import org.sparkcollectives.internal.transport.shm.ShmRegion;
import org.sparkcollectives.internal.transport.tcp.SocketWait;
import org.sparkcollectives.internal.work.GroupMonitor;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.store.Deadline;

/** The paths of one rank to its peers: over the heap within the JVM, over TCP to all others. */
public final class GroupPaths {

  private static final Logger LOG = LoggerFactory.getLogger(GroupPaths.class);

  private final Membership members;
  private final CollectiveNode.LocalGroup local;
  private final GroupMonitor monitor;
  private final GroupTransports transports;
  private final GroupCommunicator communicator;
  private final TcpPaths tcp;

  /** The heap of this JVM's ranks, if ranks of the group share JVMs and may use it. */
  private final Optional<HeapRegion> heap;

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
    this.local = local;
    this.monitor = monitor;
    this.transports = transports;
    int rank = members.rank();
    Progress progress = waiter.progress();
    HeapGroup jvm = local.heap();
    jvm.join(rank, progress);
    jvm.listen(rank, monitor::connectionTo);
    this.communicator = new GroupCommunicator(rank, transports, progress, monitor.logContext());
    Optional<SharedFolder> folder =
        transports.sharedMemory().map(path -> new SharedFolder(path, communicator::logging));
    this.tcp =
        new TcpPaths(
            node.tcp(),
            members,
            monitor::connectionTo,
            local.matchers().of(rank),
            transports.isOneHeap() ? lack -> {} : monitor.reports()::failed);
    tcp.addStripe(waiter, folder.orElse(null), communicator::current);
    this.heap =
        transports
            .inHeapOf(rank)
            .map(here -> new HeapRegion(jvm, rank, here, progress, communicator::current));
    this.memory = folder.map(SharedTensors::new);
    this.host = memory.filter(each -> transports.isOneHost()).map(each -> host(each, waiter));
    communicator.connect(this::pairTo, heap, host);
  }

  private ShmRegion host(SharedTensors tensors, Waiter waiter) {
    // Where ranks share a heap, tensors that lie elsewhere do not pass through this memory.
    boolean stages = heap.isEmpty();
    SocketWait sockets = waiter.sockets();
    ShmRegion region =
        new ShmRegion(
            tensors,
            communicator,
            stages,
            waiter.progress(),
            sockets.bell(),
            communicator::current);
    sockets.register(region);
    return region;
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
      Waiter waiter =
          Waiter.of(monitor.state(), monitor.reports(), monitor.logContext(), connections.spin());
      further[i] =
          new StripeCommunicator(
              members.rank(),
              transports,
              tcp.addStripe(waiter, null, communicator::current),
              waiter);
    }
    StripeThreads threads =
        new StripeThreads(
            monitor.executor(), partFailed, monitor.reports()::interrupted, connections.spin());
    communicator.stripe(
        new GroupStripes(communicator, further, connections.smallestBytes(), threads));
  }

  /** Lets peers connect from now on. */
  public void open() {
    tcp.open();
  }

  private boolean overHeap(int peer) {
    return transports.heap() && members.isLocal(peer);
  }

  private Pair pairTo(int peer) {
    return overHeap(peer) ? heap.orElseThrow().pair(peer) : tcp.pair(peer);
  }

  /** Returns the peers to which a connection is being made, in order. */
  public List<Integer> connectingTo() {
    return tcp.connectingTo();
  }

  /** Returns the path of messages to a peer. */
  public MessagePath messagesTo(int peer) {
    return overHeap(peer)
        ? new LocalMessagePath(members.rank(), local.matchers().of(peer), monitor.executor())
        : tcp.messagesTo(peer);
  }

  /** Returns the peers of the group's collectives. */
  public Communicator communicator() {
    return communicator;
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
      throw new IOException(
          members.id() + " may not share memory: shm is not among its transports");
    }
    return memory.get().allocateShared(bytes);
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
    int rank = members.rank();
    tcp.refuse();
    local.matchers().of(rank).close();
    if (!monitor.state().failed()) {
      local.heap().leave(rank, lastCollective);
      if (!tcp.drain(lastCollective, deadline, monitor.state()::failed)) {
        LOG.warn(
            "{} is closed, but peers have not taken within {} what was sent to them: they may miss"
                + " it",
            monitor,
            deadline.total());
      }
    }
    tcp.breakOff();
    if (idle) {
      tcp.free();
      host.ifPresent(ShmRegion::free);
    }
    memory.ifPresent(SharedTensors::close);
    tcp.closeWaiters();
  }
}
