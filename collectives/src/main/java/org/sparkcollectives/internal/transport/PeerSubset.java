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
  private final Optional<Hierarchy> hierarchy;

  /** Creates a group of ranks that nothing divides, among which is this one. */
  PeerSubset(Peers all, int[] ranks, Reach reach, GroupMemory memory) {
    this(all, ranks, reach, memory, 0, List.of());
  }

  /**
   * Creates a group of ranks among which is this one.
   *
   * @param memory the memory that they see
   * @param level the number of the level that divides them, if one does
   * @param nearer how {@code all} are divided at the levels from there on
   */
  PeerSubset(
      Peers all, int[] ranks, Reach reach, GroupMemory memory, int level, List<Locality> nearer) {
    this.all = all;
    this.ranks = ranks;
    this.rank = indexOf(all.rank(), ranks);
    this.reach = reach;
    this.memory = memory;
    this.stripes = new StripeSubset(all.stripesAmong(ranks), this, ranks);
    this.hierarchy =
        Hierarchy.messages(
            this,
            level,
            nearer.stream()
                .filter(Locality::isDivided)
                .map(locality -> locality.among(ranks))
                .toList());
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
