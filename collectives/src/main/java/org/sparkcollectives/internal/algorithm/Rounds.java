package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Locality;

/**
 * The rounds in which the cross-node groups of a {@link Hierarchy} carry the parts of all ranks. If
 * all nodes have the same number of ranks, there is one round, and each rank's part travels in its
 * own group. In larger nodes the ranks that are in such a group are leaders: they also carry the
 * parts of ranks that are in none.
 */
record Rounds(Locality locality, int rank) {

  /** Returns the rounds of this rank. */
  static Rounds of(Hierarchy hierarchy) {
    return new Rounds(
        hierarchy.locality(),
        hierarchy.locality().rank(hierarchy.node(), hierarchy.intraNode().rank()));
  }

  /** Returns how many there are. */
  static int count(Locality locality) {
    return (locality.largest() + locality.smallest() - 1) / locality.smallest();
  }

  /** Returns how many there are. */
  int count() {
    return count(locality);
  }

  /** Returns whether leaders of this node carry for others. */
  boolean isShared() {
    return locality.sizeOf(node()) > locality.smallest();
  }

  /** Returns the node of this rank. */
  int node() {
    return locality.node(rank);
  }

  /** Returns whether this rank is in a cross-node group. */
  boolean isLeader() {
    return index() < locality.smallest();
  }

  /** Returns this rank's number in its node. */
  int index() {
    return locality.index(rank);
  }

  /** Returns for which number in its node a leader carries in a round. */
  private int index(int round) {
    return index() + round * locality.smallest();
  }

  /** Returns whose part a node's leader in this group carries in a round; -1 for nobody's. */
  int rank(int node, int round) {
    return index(round) < locality.sizeOf(node) ? locality.rank(node, index(round)) : -1;
  }

  /** Returns the number in its node of the leader that carries for a rank. */
  int leader(int rank) {
    return locality.index(rank) % locality.smallest();
  }

  /** Returns in which round it does. */
  int round(int rank) {
    return locality.index(rank) / locality.smallest();
  }
}
