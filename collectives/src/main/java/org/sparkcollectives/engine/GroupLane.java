package org.sparkcollectives.engine;

import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.sparkcollectives.DType;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Hierarchy;
import org.sparkcollectives.transport.Lane;
import org.sparkcollectives.transport.Locality;
import org.sparkcollectives.transport.OperationHeader;
import org.sparkcollectives.transport.Pair;
import org.sparkcollectives.transport.Progress;
import org.sparkcollectives.transport.Reach;
import org.sparkcollectives.transport.SharedRegion;
import org.sparkcollectives.transport.SharedSlots;
import org.sparkcollectives.transport.SharedStaging;
import org.sparkcollectives.transport.Stripes;
import org.sparkcollectives.transport.heap.HeapRegion;
import org.sparkcollectives.transport.shm.ShmRegion;

/** The peers of one rank in one group, each over the best path that there is to it. */
final class GroupLane implements Lane {

  private final int rank;
  private final Pair[] pairs;
  private final IntFunction<Pair> path;
  private final Progress progress;
  private final Reach reach;
  private HeapRegion region;
  private HeapRegion regionOfNode;
  private Hierarchy hierarchy;
  private ShmRegion hostRegion;
  private Stripes stripes;
  private Stripes stripesOfAll;
  private Predicate<int[]> overTcpOnly;
  private OperationHeader current;

  /**
   * Creates a lane with the path to each peer, which is requested when an algorithm first needs it.
   *
   * @param reach how far the ranks are from each other
   * @param progress what all paths share
   */
  GroupLane(int rank, int size, IntFunction<Pair> path, Reach reach, Progress progress) {
    this.rank = rank;
    this.pairs = new Pair[size];
    this.path = path;
    this.reach = reach;
    this.progress = progress;
  }

  /** Lets all ranks see the memory of {@code shared} from now on. */
  void share(HeapRegion shared) {
    region = shared;
  }

  /**
   * Lets the ranks of this JVM see the memory of {@code shared} from now on.
   *
   * @param shared null if there is no such memory, in no JVM of the group
   * @param nodes in which JVM each rank is
   * @param hosts with which others each rank shares a host's memory
   */
  void divide(HeapRegion shared, Locality nodes, Locality hosts) {
    regionOfNode = shared;
    hierarchy =
        shared == null
            ? Hierarchy.messages(this, 0, List.of(hosts))
            : Hierarchy.of(this, nodes, shared, hosts);
  }

  /** Lets ranks whose tensors lie in memory of this kind see each other's from now on. */
  void share(ShmRegion shared) {
    hostRegion = shared;
  }

  /**
   * Lets large operations use several stripes from now on.
   *
   * @param onlyWay whether these ranks have no other path to each other
   */
  void stripe(Stripes all, Predicate<int[]> onlyWay) {
    stripes = all;
    overTcpOnly = onlyWay;
    stripesOfAll = stripesAmong(IntStream.range(0, size()).toArray());
  }

  /** Returns the operation that this rank is in. */
  OperationHeader current() {
    return current;
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
  public SharedRegion region() {
    return region;
  }

  @Override
  public SharedRegion regionFor(List<HostTensor> shown) {
    return region != null || hostRegion == null ? region : hostRegion.regionFor(current, shown);
  }

  @Override
  public HostTensor showable(DType dtype, long count) {
    return hostRegion == null ? null : hostRegion.showable(dtype, count);
  }

  @Override
  public SharedSlots slots() {
    return hostRegion == null ? null : hostRegion.slotsFor(current);
  }

  @Override
  public SharedStaging staging() {
    return hostRegion == null ? null : hostRegion.stagingFor(current);
  }

  @Override
  public Reach reach() {
    return reach;
  }

  @Override
  public Hierarchy hierarchy() {
    return hierarchy;
  }

  @Override
  public Stripes stripes() {
    return stripesOfAll;
  }

  @Override
  public Stripes stripesAmong(int... ranks) {
    return stripes != null && overTcpOnly.test(ranks) ? stripes : null;
  }

  @Override
  public void flush() {
    progress.flush();
  }

  @Override
  public void abandon() {
    progress.abandon();
    if (region != null) {
      region.abandon();
    }
    if (regionOfNode != null) {
      regionOfNode.abandon();
    }
    if (hostRegion != null) {
      hostRegion.abandon();
    }
  }
}
