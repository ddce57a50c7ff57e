package org.sparkcollectives.internal.transport;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The division of a group's ranks in nodes: JVMs, or hosts. Nodes are in the order of their first
 * ranks, and the ranks of a node in their own order, so all ranks number them alike.
 *
 * <p>Immutable.
 */
public final class Locality {

  private final int[][] ranks;
  private final int[] nodes;
  private final int[] indices;
  private final int smallest;
  private final int largest;

  private Locality(int[][] ranks, int size) {
    this.ranks = ranks;
    this.nodes = new int[size];
    this.indices = new int[size];
    int fewest = Integer.MAX_VALUE;
    int most = 0;
    for (int node = 0; node < ranks.length; node++) {
      for (int index = 0; index < ranks[node].length; index++) {
        nodes[ranks[node][index]] = node;
        indices[ranks[node][index]] = index;
      }
      fewest = Math.min(fewest, ranks[node].length);
      most = Math.max(most, ranks[node].length);
    }
    this.smallest = fewest;
    this.largest = most;
  }

  /** Creates it from what names the node of each rank, in rank order; equal names are one node. */
  public static Locality of(List<?> names) {
    Map<Object, List<Integer>> ranks = new LinkedHashMap<>();
    for (int rank = 0; rank < names.size(); rank++) {
      ranks.computeIfAbsent(names.get(rank), name -> new ArrayList<>()).add(rank);
    }
    int[][] all =
        ranks.values().stream()
            .map(each -> each.stream().mapToInt(Integer::intValue).toArray())
            .toArray(int[][]::new);
    return new Locality(all, names.size());
  }

  /** Returns that of some of the ranks, in whose order they are numbered anew. */
  Locality among(int[] some) {
    List<Integer> names = new ArrayList<>(some.length);
    for (int rank : some) {
      names.add(nodes[rank]);
    }
    return of(names);
  }

  /** Returns whether no two of these ranks are in one node. */
  public boolean areApart(int... some) {
    boolean[] seen = new boolean[ranks.length];
    for (int rank : some) {
      if (seen[nodes[rank]]) {
        return false;
      }
      seen[nodes[rank]] = true;
    }
    return true;
  }

  /** Returns whether there are several nodes, and one has several ranks. */
  public boolean isDivided() {
    return ranks.length > 1 && largest > 1;
  }

  /** Returns the number of ranks. */
  public int size() {
    return nodes.length;
  }

  /** Returns the number of nodes. */
  public int nodes() {
    return ranks.length;
  }

  /** Returns the node of a rank. */
  public int node(int rank) {
    return nodes[rank];
  }

  /** Returns a rank's number among those of its node. */
  public int index(int rank) {
    return indices[rank];
  }

  /** Returns the number of ranks in a node. */
  public int sizeOf(int node) {
    return ranks[node].length;
  }

  /** Returns a rank, by its number among those of its node. */
  public int rank(int node, int index) {
    return ranks[node][index];
  }

  /** Returns the ranks of a node. */
  public int[] ranks(int node) {
    return ranks[node].clone();
  }

  /** Returns the number of ranks in the node that has the fewest. */
  public int smallest() {
    return smallest;
  }

  /** Returns the number of ranks in the node that has the most. */
  public int largest() {
    return largest;
  }
}
