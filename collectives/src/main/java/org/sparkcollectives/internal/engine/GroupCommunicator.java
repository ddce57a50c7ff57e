package org.sparkcollectives.internal.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.sparkcollectives.internal.transport.Communicator;
import org.sparkcollectives.internal.transport.GroupMemory;
import org.sparkcollectives.internal.transport.HeapMemory;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Level;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Progress;
import org.sparkcollectives.internal.transport.RackOrder;
import org.sparkcollectives.internal.transport.Reach;
import org.sparkcollectives.internal.transport.Stripes;
import org.sparkcollectives.internal.transport.heap.HeapRegion;
import org.sparkcollectives.internal.transport.shm.ShmMemory;
import org.sparkcollectives.internal.transport.shm.ShmRegion;
import org.sparkcollectives.internal.work.RunAll;
import org.sparkcollectives.spi.LogContext;

/**
 * The peers of one rank in one group, each over the best path that there is to it. The topology is
 * found once, when the group is made, and does not change afterwards.
 */
final class GroupCommunicator implements Communicator {

  private final int rank;
  private final GroupTransports transports;
  private final Progress progress;
  private final LogContext logContext;
  private final Pair[] pairs;
  private final Optional<RackOrder> rackOrder;
  private IntFunction<Pair> path;
  private Optional<HeapRegion> heap = Optional.empty();
  private Optional<ShmRegion> host = Optional.empty();
  private GroupMemory memory = GroupMemory.NONE;
  private Optional<Hierarchy> hierarchy = Optional.empty();
  private Stripes stripes = Stripes.single(this);
  private Stripes stripesOfAll = stripes;
  private OperationHeader current;

  /**
   * Creates a communicator without paths.
   *
   * @param progress what all paths share
   * @param logContext of the rank
   */
  GroupCommunicator(
      int rank, GroupTransports transports, Progress progress, LogContext logContext) {
    this.rank = rank;
    this.transports = transports;
    this.progress = progress;
    this.logContext = logContext;
    this.pairs = new Pair[transports.size()];
    this.rackOrder =
        transports.racks().map(racks -> new RackOrder(this, racks, transports.machines()));
  }

  /**
   * Sets over what the ranks reach each other; all ranks of the group find the same. Called once,
   * before the first operation.
   *
   * @param pathTo a peer, which is asked for when an algorithm first needs it
   * @param ofJvm what the ranks of each JVM share; empty if no ranks share one
   * @param ofHost what all ranks of the group share; empty if they are on several hosts, or in one
   *     JVM
   */
  void connect(IntFunction<Pair> pathTo, Optional<HeapRegion> ofJvm, Optional<ShmRegion> ofHost) {
    path = pathTo;
    heap = ofJvm;
    host = ofHost;
    if (transports.isOneHeap() && heap.isPresent()) {
      memory = new HeapMemory(heap.get());
      return;
    }
    List<Level> levels = new ArrayList<>();
    levels.add(Level.hosts(transports.hosts()));
    transports.racks().ifPresent(racks -> levels.add(Level.racks(racks)));
    host.ifPresent(region -> memory = new ShmMemory(region));
    hierarchy =
        heap.map(region -> Hierarchy.of(this, transports.nodes(), region, levels))
            .or(() -> Hierarchy.messages(this, 0, levels));
  }

  /** Lets large operations use several stripes. Called once, before the first operation. */
  void stripe(Stripes all) {
    stripes = all;
    stripesOfAll = stripesAmong(IntStream.range(0, size()).toArray());
  }

  /** Returns the operation that this rank is in. */
  OperationHeader current() {
    return current;
  }

  /** Runs what may log something of that operation. */
  void logging(Runnable body) {
    (current == null ? logContext : logContext.during(current.toString())).run(body);
  }

  @Override
  public void begin(OperationHeader header) {
    current = header;
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return pairs.length;
  }

  @Override
  public Pair pair(int peer) {
    if (pairs[peer] == null) {
      pairs[peer] = path.apply(peer);
    }
    return pairs[peer];
  }

  @Override
  public GroupMemory memory() {
    return memory;
  }

  @Override
  public Reach reach() {
    if (transports.racks().isPresent()) {
      return Reach.RACKS;
    }
    return transports.hosts().nodes() == 1 ? Reach.HOST : Reach.NETWORK;
  }

  @Override
  public Optional<Locality> racks() {
    return transports.racks();
  }

  @Override
  public Optional<RackOrder> rackOrder() {
    return rackOrder;
  }

  @Override
  public Optional<Hierarchy> hierarchy() {
    return hierarchy;
  }

  @Override
  public Stripes stripes() {
    return stripesOfAll;
  }

  @Override
  public Stripes stripesAmong(int... ranks) {
    return transports.areOverTcpOnly(ranks) ? stripes : Stripes.single(this);
  }

  @Override
  public void flush() {
    progress.flush();
  }

  @Override
  public void attribute(Throwable thrown) {
    heap.ifPresent(region -> region.attribute(thrown));
  }

  @Override
  public void abandon() {
    RunAll.of(
        progress::abandon,
        () -> heap.ifPresent(region -> logging(region::abandon)),
        () -> host.ifPresent(ShmRegion::abandon));
  }
}
