package org.sparkcollectives.internal.transport;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Some of the ranks as a group of their own, numbered in the order in which they are given. */
final class PeerSubset implements Peers {

  private final Peers all;
  private final int[] ranks;
  private final int rank;
  private final Reach reach;
  private final GroupMemory memory;
  private final Stripes stripes;
  private final Optional<Locality> racks;
  private final Optional<RackOrder> rackOrder;
  private final Optional<Hierarchy> hierarchy;

  /** Creates a group of ranks that nothing divides, among which is this one. */
  PeerSubset(Peers all, int[] ranks, Reach reach, GroupMemory memory) {
    this(all, ranks, reach, memory, 0, List.of());
  }

  private PeerSubset(Peers all, int[] ranks, Reach reach, Optional<RackOrder> like) {
    this.all = all;
    this.ranks = ranks;
    this.rank = indexOf(all.rank(), ranks);
    this.reach = reach;
    this.memory = GroupMemory.NONE;
    this.racks = like.map(RackOrder::racks);
    this.rackOrder = like.map(order -> order.over(this));
    this.stripes = Stripes.single(this);
    this.hierarchy = Optional.empty();
  }

  /** Returns the ranks in this order, for an operation that is not divided any further. */
  static PeerSubset ordered(Peers all, int[] ranks) {
    return new PeerSubset(all, ranks, all.reach(), Optional.empty());
  }

  /**
   * Returns ranks over a further stripe.
   *
   * @param first the same ranks over the first
   */
  static PeerSubset striped(Peers all, int[] ranks, Peers first) {
    return new PeerSubset(all, ranks, first.reach(), first.rackOrder());
  }

  /**
   * Creates a group of ranks among which is this one.
   *
   * @param memory the memory that they see
   * @param level the number of the level that divides them, if one does
   * @param farther how {@code all} are divided at the levels from there on
   */
  PeerSubset(
      Peers all, int[] ranks, Reach reach, GroupMemory memory, int level, List<Level> farther) {
    this.all = all;
    this.ranks = ranks;
    this.rank = indexOf(all.rank(), ranks);
    this.reach = reach;
    this.memory = memory;
    List<Level> levels = farther.stream().map(each -> each.among(ranks)).toList();
    this.racks = Hierarchy.racks(levels);
    this.rackOrder =
        racks.map(each -> new RackOrder(this, each, Hierarchy.hosts(levels, ranks.length)));
    this.stripes = new StripeSubset(all.stripesAmong(ranks), this, ranks);
    this.hierarchy = Hierarchy.messages(this, level, levels);
  }

  private static int indexOf(int rank, int[] ranks) {
    for (int i = 0; i < ranks.length; i++) {
      if (ranks[i] == rank) {
        return i;
      }
    }
    throw new IllegalArgumentException("rank " + rank + " is not in its own group");
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return ranks.length;
  }

  @Override
  public Pair pair(int peer) {
    return all.pair(ranks[peer]);
  }

  @Override
  public Reach reach() {
    return reach;
  }

  @Override
  public GroupMemory memory() {
    return memory;
  }

  @Override
  public Optional<Hierarchy> hierarchy() {
    return hierarchy;
  }

  @Override
  public Optional<Locality> racks() {
    return racks;
  }

  @Override
  public Optional<RackOrder> rackOrder() {
    return rackOrder;
  }

  @Override
  public Stripes stripes() {
    return stripes;
  }

  @Override
  public Stripes stripesAmong(int... some) {
    int[] those = Arrays.stream(some).map(each -> ranks[each]).toArray();
    return new StripeSubset(all.stripesAmong(those), this, ranks);
  }

  @Override
  public void flush() {
    all.flush();
  }
}
