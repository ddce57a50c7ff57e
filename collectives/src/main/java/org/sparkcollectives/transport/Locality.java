package org.sparkcollectives.transport;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Which ranks of a group are in one place: in one JVM, or on one host. Places are in the order of
 * their first ranks, and the ranks of a place in their own order, so all ranks number them alike.
 *
 * <p>Immutable.
 */
public final class Locality {

  private final int[][] ranks;
  private final int[] places;
  private final int[] indices;
  private final int smallest;
  private final int largest;

  private Locality(int[][] ranks, int size) {
    this.ranks = ranks;
    this.places = new int[size];
    this.indices = new int[size];
    int fewest = Integer.MAX_VALUE;
    int most = 0;
    for (int place = 0; place < ranks.length; place++) {
      for (int index = 0; index < ranks[place].length; index++) {
        places[ranks[place][index]] = place;
        indices[ranks[place][index]] = index;
      }
      fewest = Math.min(fewest, ranks[place].length);
      most = Math.max(most, ranks[place].length);
    }
    this.smallest = fewest;
    this.largest = most;
  }

  /** With what names the place of each rank, in rank order; equal names are one place. */
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

  /** That of some of the ranks, in whose order they are numbered anew. */
  Locality among(int[] some) {
    List<Integer> names = new ArrayList<>(some.length);
    for (int rank : some) {
      names.add(places[rank]);
    }
    return of(names);
  }

  /** Whether no two of these ranks are in one place. */
  public boolean areApart(int... some) {
    boolean[] seen = new boolean[ranks.length];
    for (int rank : some) {
      if (seen[places[rank]]) {
        return false;
      }
      seen[places[rank]] = true;
    }
    return true;
  }

  /** Whether there are several places, and one has several ranks. */
  public boolean isDivided() {
    return ranks.length > 1 && largest > 1;
  }

  /** The number of ranks. */
  public int size() {
    return places.length;
  }

  /** The number of places. */
  public int places() {
    return ranks.length;
  }

  /** The place of a rank. */
  public int place(int rank) {
    return places[rank];
  }

  /** A rank's number among those of its place. */
  public int index(int rank) {
    return indices[rank];
  }

  /** The number of ranks in a place. */
  public int sizeOf(int place) {
    return ranks[place].length;
  }

  /** A rank, by its number among those of its place. */
  public int rank(int place, int index) {
    return ranks[place][index];
  }

  /** The ranks of a place. */
  public int[] ranks(int place) {
    return ranks[place].clone();
  }

  /** The number of ranks in the place that has the fewest. */
  public int smallest() {
    return smallest;
  }

  /** The number of ranks in the place that has the most. */
  public int largest() {
    return largest;
  }
}
