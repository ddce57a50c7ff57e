package org.sparkcollectives.internal.transport;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The ranks of a group as two levels: the ranks of one node, and the cross-node groups. A node is a
 * JVM, a host whose ranks share memory, or a rack.
 *
 * <p>A cross-node group has one rank of each node, so an operation can divide a tensor in slices,
 * one for each such group, work on them inside every node, exchange each in its cross-node group,
 * and share them inside again. There are as many cross-node groups as the smallest node has ranks:
 * each then reaches every node, and each slice travels between nodes once. Ranks of larger nodes
 * beyond that own no slice, and have nothing to do between nodes.
 *
 * <p>Where an operation has a root, the root owns the first slice, and the other ranks of its node
 * follow in a circle.
 *
 * <p>Levels compose: a cross-node group may have a hierarchy of its own.
 *
 * <p>Only the thread that runs the group's current operation may use it, except for what does not
 * change: the locality, and whether the ranks of a node share a heap.
 */
public final class Hierarchy {

  /** The root of an operation that has none. */
  public static final int NO_ROOT = OperationHeader.NO_ROOT;

  private final Peers all;
  private final int level;
  private final Locality locality;
  private final Reach within;
  private final List<Level> farther;
  private final Optional<Locality> crossNodeRacks;
  private final boolean sharesHeap;
  private final Peers intraNode;
  private final Peers opening;

  /** The cross-node groups that were needed so far, by root. */
  private final Map<Integer, Peers> crossNode = new HashMap<>();

  private Hierarchy(
      Peers all, int level, Level nodes, Optional<SharedRegion> heap, List<Level> farther) {
    this.all = all;
    this.level = level;
    this.locality = nodes.locality();
    this.within = nodes.within();
    this.farther = farther;
    this.crossNodeRacks = racks(farther.stream().map(each -> each.among(firstRanks())).toList());
    this.sharesHeap = heap.isPresent();
    int[] here = locality.ranks(locality.node(all.rank()));
    if (heap.isPresent()) {
      this.intraNode = new PeerSubset(all, here, Reach.JVM, new HeapMemory(heap.get()));
      this.opening =
          new PeerSubset(all, here, Reach.JVM, new HeapMemory(new OpeningPhase(heap.get())));
    } else {
      this.intraNode = new PeerSubset(all, here, within, GroupMemory.NONE);
      this.opening = intraNode;
    }
  }

  /**
   * Divides a group whose ranks are in several JVMs.
   *
   * @param jvms in which JVM each rank is
   * @param region the memory that the ranks of this JVM see
   * @param farther how the ranks are divided beyond the JVM, the nearest level first
   */
  public static Hierarchy of(Peers all, Locality jvms, SharedRegion region, List<Level> farther) {
    return new Hierarchy(all, 0, new Level(jvms, Reach.JVM), Optional.of(region), farther);
  }

  /** Divides a group whose ranks reach each other by messages only; empty if nothing does. */
  public static Optional<Hierarchy> messages(Peers all, int level, List<Level> levels) {
    for (int i = 0; i < levels.size(); i++) {
      if (levels.get(i).locality().isDivided()) {
        List<Level> farther = levels.subList(i + 1, levels.size());
        return Optional.of(new Hierarchy(all, level + 1, levels.get(i), Optional.empty(), farther));
      }
    }
    return Optional.empty();
  }

  /** Returns the racks among levels; empty if no rack has several ranks, or one has all. */
  static Optional<Locality> racks(List<Level> levels) {
    return levels.stream()
        .filter(Level::isRacks)
        .map(Level::locality)
        .filter(Locality::isDivided)
        .findFirst();
  }

  /** Returns the hosts among levels; a host for each rank if there are none. */
  static Locality hosts(List<Level> levels, int size) {
    return levels.stream()
        .filter(each -> !each.isRacks())
        .map(Level::locality)
        .findFirst()
        .orElseGet(() -> Locality.of(IntStream.range(0, size).boxed().toList()));
  }

  private int[] firstRanks() {
    return IntStream.range(0, locality.nodes()).map(node -> locality.rank(node, 0)).toArray();
  }

  /** Returns how many levels are nearer than this one. */
  public int level() {
    return level;
  }

  /** Returns which ranks are in one node. */
  public Locality locality() {
    return locality;
  }

  /** Returns whether the nodes are racks. */
  public boolean isOfRacks() {
    return within == Reach.NETWORK;
  }

  /** Returns how far the ranks of a node are from each other. */
  public Reach within() {
    return within;
  }

  /** Returns in which rack each rank of a cross-node group is, as {@link Peers#racks}. */
  public Optional<Locality> crossNodeRacks() {
    return crossNodeRacks;
  }

  /** Returns whether the ranks of a node see each other's heap; else they send messages. */
  public boolean sharesHeap() {
    return sharesHeap;
  }

  /** Returns the node of this rank. */
  public int node() {
    return locality.node(all.rank());
  }

  /** Returns the ranks of this rank's node. */
  public Peers intraNode() {
    return intraNode;
  }

  /**
   * Returns the same for the first of two phases: it does not end with a wait for all, because the
   * second begins with one, and what this rank publishes is not changed by others in between.
   */
  public Peers opening() {
    return opening;
  }

  /** Returns the number of cross-node groups. */
  public int crossNodeGroups() {
    return locality.smallest();
  }

  /**
   * Returns the number of the cross-node group of a rank of this rank's node; those from {@link
   * #crossNodeGroups()} on do not exist.
   *
   * @param index its number in the node
   */
  public int crossNodeGroup(int index, int root) {
    return Math.floorMod(index - shift(node(), root), locality.sizeOf(node()));
  }

  /** Returns the number of this rank's cross-node group. */
  public int ownCrossNodeGroup(int root) {
    return crossNodeGroup(locality.index(all.rank()), root);
  }

  private int shift(int node, int root) {
    return root != NO_ROOT && locality.node(root) == node ? locality.index(root) : 0;
  }

  /**
   * Returns this rank's cross-node group, with the ranks in the order of their nodes.
   *
   * @throws IllegalStateException if this rank is in none
   */
  public Peers interNode(int root) {
    int group = ownCrossNodeGroup(root);
    if (group >= crossNodeGroups()) {
      throw new IllegalStateException("rank " + all.rank() + " is in no cross-node group");
    }
    return crossNode.computeIfAbsent(root, each -> makeCrossNode(group, each));
  }

  private Peers makeCrossNode(int group, int root) {
    int[] ranks = new int[locality.nodes()];
    for (int node = 0; node < ranks.length; node++) {
      int index = (group + shift(node, root)) % locality.sizeOf(node);
      ranks[node] = locality.rank(node, index);
    }
    return new PeerSubset(all, ranks, all.reach(), GroupMemory.NONE, level, farther);
  }
}
