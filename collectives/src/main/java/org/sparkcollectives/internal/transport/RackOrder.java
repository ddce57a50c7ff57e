package org.sparkcollectives.internal.transport;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The ranks of a group in the order of their racks, and in a rack of their hosts: a ring then
 * enters each rack once, and what goes to the next ranks mostly stays in the rack.
 *
 * <p>Ranks may also be dealt to the racks, one to each in turn, where all distances that are powers
 * of two, from the number of racks on, lead to a rank of the same rack.
 *
 * <p>Where an operation has a root, that is the first, with its rack and host. The others follow in
 * a circle.
 *
 * <p>Only the thread that runs the group's current operation may use it.
 */
public final class RackOrder {

  /**
   * The ranks in that order.
   *
   * @param peers the ranks, numbered anew
   * @param ranks which each of them is in the group
   */
  public record Ordered(Peers peers, int[] ranks) {}

  private final Peers all;
  private final Locality racks;
  private final Locality hosts;

  /** The orders that were needed so far, by root. */
  private final Map<Integer, Ordered> inTurn = new HashMap<>();

  private final Map<Integer, Ordered> dealt = new HashMap<>();

  /**
   * Creates the order of a group's ranks.
   *
   * @param racks in which rack each is
   * @param hosts on which host each is
   */
  public RackOrder(Peers all, Locality racks, Locality hosts) {
    this.all = all;
    this.racks = racks;
    this.hosts = hosts;
  }

  /** Returns in which rack each rank is. */
  Locality racks() {
    return racks;
  }

  /** Returns the same order of other paths to the same ranks. */
  RackOrder over(Peers paths) {
    return new RackOrder(paths, racks, hosts);
  }

  /** Returns whether ranks can be dealt to these racks: as many to each of a power of two. */
  public static boolean canDeal(Locality racks) {
    return racks.smallest() == racks.largest() && Integer.bitCount(racks.nodes()) == 1;
  }

  /** Returns the ranks from a root on, or from the first if it is {@link Hierarchy#NO_ROOT}. */
  public Ordered from(int root) {
    return inTurn.computeIfAbsent(root, each -> ordered(inTurn(each)));
  }

  /** Returns the ranks likewise, dealt to the racks; empty if they cannot be. */
  public Optional<Ordered> dealt(int root) {
    return canDeal(racks)
        ? Optional.of(dealt.computeIfAbsent(root, each -> ordered(deal(inTurn(each)))))
        : Optional.empty();
  }

  private Ordered ordered(int[] ranks) {
    return new Ordered(PeerSubset.ordered(all, ranks), ranks);
  }

  private int[] deal(int[] ranks) {
    int[] order = new int[ranks.length];
    for (int i = 0; i < ranks.length; i++) {
      order[i % racks.largest() * racks.nodes() + i / racks.largest()] = ranks[i];
    }
    return order;
  }

  private int[] inTurn(int root) {
    int first = root == Hierarchy.NO_ROOT ? 0 : root;
    return IntStream.range(0, racks.size())
        .boxed()
        .sorted(
            Comparator.<Integer>comparingInt(rank -> distance(racks, first, rank))
                .thenComparingInt(rank -> distance(hosts, first, rank))
                .thenComparingInt(rank -> Math.floorMod(rank - first, racks.size())))
        .mapToInt(Integer::intValue)
        .toArray();
  }

  private static int distance(Locality nodes, int from, int rank) {
    return Math.floorMod(nodes.node(rank) - nodes.node(from), nodes.nodes());
  }
}
