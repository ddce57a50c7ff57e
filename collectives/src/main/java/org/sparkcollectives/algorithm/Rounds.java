package org.sparkcollectives.algorithm;

import org.sparkcollectives.transport.Hierarchy;
import org.sparkcollectives.transport.Locality;

/**
 * Whose parts travel in which column of a {@link Hierarchy}: each rank's in one, in turn. Where all
 * places have as many ranks, each rank's part travels in its own column, in the only round; in
 * larger places a rank also carries for those that have no column.
 */
record Rounds(Locality locality, int rank) {

  /** Those of the rank that carries for itself and for others of its place. */
  static Rounds of(Hierarchy hierarchy) {
    return new Rounds(
        hierarchy.locality(),
        hierarchy.locality().rank(hierarchy.place(), hierarchy.inside().rank()));
  }

  /** How many there are, in each column. */
  int count() {
    return (locality.largest() + locality.smallest() - 1) / locality.smallest();
  }

  /** Whether a rank carries for others of its place. */
  boolean isShared() {
    return locality.sizeOf(place()) > locality.smallest();
  }

  int place() {
    return locality.place(rank);
  }

  /** Whether this rank carries. */
  boolean isCarrier() {
    return index() < locality.smallest();
  }

  /** This rank's number in its place. */
  int index() {
    return locality.index(rank);
  }

  /** For which number in its place a rank carries in a round. */
  private int index(int round) {
    return index() + round * locality.smallest();
  }

  /** Whose part a place's rank of this column carries in a round; -1 for nobody's. */
  int rank(int place, int round) {
    return index(round) < locality.sizeOf(place) ? locality.rank(place, index(round)) : -1;
  }

  /** Which of its place's ranks carries for a rank. */
  int carrier(int rank) {
    return locality.index(rank) % locality.smallest();
  }

  /** In which round. */
  int round(int rank) {
    return locality.index(rank) / locality.smallest();
  }
}
