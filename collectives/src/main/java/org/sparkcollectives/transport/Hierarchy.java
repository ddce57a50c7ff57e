package org.sparkcollectives.transport;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The ranks of a group as two levels: those of this rank's place, and across places the columns.
 *
 * <p>A column is one rank of each place, so an operation can divide a tensor in slices, one for
 * each column, work on them inside every place, exchange each across its column, and share them
 * inside again. There are as many columns as the smallest place has ranks: every column then
 * reaches every place, and each slice goes across once. Ranks of larger places beyond that own no
 * slice, and have nothing to do across.
 *
 * <p>Where an operation has a root, the root owns the first slice, and the other ranks of its place
 * follow in a circle.
 *
 * <p>Levels compose: a column is a group, which may have a hierarchy of its own.
 *
 * <p>Only the thread that runs the group's current operation may use it.
 */
public final class Hierarchy {

  /** The root of an operation that has none. */
  public static final int NO_ROOT = OperationHeader.NO_ROOT;

  private final Peers all;
  private final int level;
  private final Locality locality;
  private final List<Locality> farther;
  private final Peers inside;
  private final Peers opening;
  private final Map<Integer, Peers> across = new HashMap<>();

  private Hierarchy(
      Peers all, int level, Locality locality, SharedRegion region, List<Locality> farther) {
    this.all = all;
    this.level = level;
    this.locality = locality;
    this.farther = farther;
    int[] here = locality.ranks(locality.place(all.rank()));
    Reach reach = region == null ? Reach.HOST : Reach.JVM;
    this.inside = new PeerSubset(all, here, reach, region, level, List.of());
    this.opening =
        region == null
            ? inside
            : new PeerSubset(all, here, reach, new OpeningPhase(region), level, List.of());
  }

  /**
   * Of a group whose ranks are in several JVMs.
   *
   * @param jvms in which JVM each rank is
   * @param region the memory that the ranks of this JVM see
   * @param hosts on which host each rank is
   */
  public static Hierarchy of(Peers all, Locality jvms, SharedRegion region, Locality hosts) {
    return new Hierarchy(all, 0, jvms, region, List.of(hosts));
  }

  /** Of a group whose ranks reach each other by messages only; null if nothing divides them. */
  public static Hierarchy messages(Peers all, int level, List<Locality> levels) {
    for (int i = 0; i < levels.size(); i++) {
      if (levels.get(i).isDivided()) {
        return new Hierarchy(
            all, level + 1, levels.get(i), null, levels.subList(i + 1, levels.size()));
      }
    }
    return null;
  }

  /** How many levels are nearer than this one. */
  public int level() {
    return level;
  }

  /** Which ranks are in one place. */
  public Locality locality() {
    return locality;
  }

  /** The place of this rank. */
  public int place() {
    return locality.place(all.rank());
  }

  /** The ranks of this rank's place. */
  public Peers inside() {
    return inside;
  }

  /**
   * The same, for the first of two phases: it does not end with a wait for all, because the second
   * begins with one, and what this rank shows is not changed by others in between.
   */
  public Peers opening() {
    return opening;
  }

  /** The number of columns. */
  public int columns() {
    return locality.smallest();
  }

  /**
   * The column of a rank of this rank's place; those from {@link #columns()} on do not exist.
   *
   * @param index its number in the place
   */
  public int column(int index, int root) {
    return column(place(), index, root);
  }

  private int column(int place, int index, int root) {
    return Math.floorMod(index - shift(place, root), locality.sizeOf(place));
  }

  /** The column of this rank. */
  public int ownColumn(int root) {
    return column(locality.index(all.rank()), root);
  }

  private int shift(int place, int root) {
    return root != NO_ROOT && locality.place(root) == place ? locality.index(root) : 0;
  }

  /** This rank's column, with the ranks in the order of their places; null if there is none. */
  public Peers across(int root) {
    int column = ownColumn(root);
    if (column >= columns()) {
      return null;
    }
    return across.computeIfAbsent(root, each -> makeColumn(column, each));
  }

  private Peers makeColumn(int column, int root) {
    int[] ranks = new int[locality.places()];
    for (int place = 0; place < ranks.length; place++) {
      int index = (column + shift(place, root)) % locality.sizeOf(place);
      ranks[place] = locality.rank(place, index);
    }
    return new PeerSubset(all, ranks, all.reach(), null, level, farther);
  }
}
