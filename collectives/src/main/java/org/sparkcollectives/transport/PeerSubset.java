package org.sparkcollectives.transport;

import java.util.List;

/** Some of the ranks as a group of their own, numbered in the order in which they are given. */
final class PeerSubset implements Peers {

  private final Peers all;
  private final int[] ranks;
  private final int rank;
  private final Reach reach;
  private final SharedRegion region;
  private final Stripes stripes;
  private final Hierarchy hierarchy;

  /** Of ranks that nothing divides, among which is this one. */
  PeerSubset(Peers all, int[] ranks, Reach reach) {
    this(all, ranks, reach, null, 0, List.of());
  }

  /**
   * Of ranks among which is this one.
   *
   * @param region the memory that they see; null where there is none
   * @param level the number of the level that divides them, if one does
   * @param nearer how {@code all} are divided at the levels from there on
   */
  PeerSubset(
      Peers all, int[] ranks, Reach reach, SharedRegion region, int level, List<Locality> nearer) {
    this.all = all;
    this.ranks = ranks;
    this.rank = indexOf(all.rank(), ranks);
    this.reach = reach;
    this.region = region;
    this.stripes = stripesOf(all.stripesAmong(ranks));
    this.hierarchy =
        Hierarchy.messages(
            this,
            level,
            nearer.stream()
                .filter(Locality::isDivided)
                .map(locality -> locality.among(ranks))
                .toList());
  }

  private Stripes stripesOf(Stripes wider) {
    return wider == null ? null : new StripeSubset(wider, this, ranks);
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
  public SharedRegion region() {
    return region;
  }

  @Override
  public Hierarchy hierarchy() {
    return hierarchy;
  }

  @Override
  public Stripes stripes() {
    return stripes;
  }

  @Override
  public Stripes stripesAmong(int... some) {
    int[] those = new int[some.length];
    for (int i = 0; i < some.length; i++) {
      those[i] = ranks[some[i]];
    }
    return stripesOf(all.stripesAmong(those));
  }

  @Override
  public void flush() {
    all.flush();
  }
}
