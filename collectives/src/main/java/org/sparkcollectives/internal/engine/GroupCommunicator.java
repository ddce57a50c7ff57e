package org.sparkcollectives.internal.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.sparkcollectives.internal.transport.Communicator;
import org.sparkcollectives.internal.transport.GroupMemory;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Progress;
import org.sparkcollectives.internal.transport.Reach;
import org.sparkcollectives.internal.transport.Stripes;
import org.sparkcollectives.internal.transport.heap.HeapRegion;
import org.sparkcollectives.internal.work.RunAll;

/**
 * The peers of one rank in one group, each over the best path that there is to it. The topology is
 * found once, when the group is made, and does not change afterwards.
 */
final class GroupCommunicator implements Communicator {

  private final int rank;
  private final Pair[] pairs;
  private final IntFunction<Pair> path;
  private final Progress progress;
  private final Reach reach;
  private GroupMemory memory = GroupMemory.NONE;
  private Optional<Hierarchy> hierarchy = Optional.empty();
  private Optional<HeapRegion> heap = Optional.empty();
  private List<Runnable> abandoning = List.of();
  private Stripes stripes = Stripes.single(this);
  private Stripes stripesOfAll = stripes;
  private Predicate<int[]> overTcpOnly = ranks -> false;
  private OperationHeader current;

  /**
   * Creates a communicator with the path to each peer, which is requested when an algorithm first
   * needs it.
   *
   * @param reach how far the ranks are from each other
   * @param progress what all paths share
   */
  GroupCommunicator(int rank, int size, IntFunction<Pair> path, Reach reach, Progress progress) {
    this.rank = rank;
    this.pairs = new Pair[size];
    this.path = path;
    this.reach = reach;
    this.progress = progress;
  }

  /**
   * Sets where the ranks are. Called once, before the first operation.
   *
   * @param shared the memory that all of them see
   * @param nodes how they are divided in nodes
   * @param lent what the ranks of this JVM lend each other
   * @param onFailure give back what this rank has published to others, after an operation has
   *     failed
   */
  void locate(
      GroupMemory shared,
      Optional<Hierarchy> nodes,
      Optional<HeapRegion> lent,
      List<Runnable> onFailure) {
    heap = lent;
    memory = shared;
    hierarchy = nodes;
    abandoning = onFailure;
  }

  /**
   * Lets large operations use several stripes. Called once, before the first operation.
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
  public GroupMemory memory() {
    return memory;
  }

  @Override
  public Reach reach() {
    return reach;
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
    return overTcpOnly.test(ranks) ? stripes : Stripes.single(this);
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
    List<Runnable> steps = new ArrayList<>(abandoning);
    steps.add(0, progress::abandon);
    RunAll.of(steps);
  }
}
