package org.sparkcollectives.internal.transport;

/**
 * A level of the hierarchy of a group's ranks beyond the JVM.
 *
 * @param locality which ranks are in one node
 * @param within how far the ranks of a node are from each other
 */
public record Level(Locality locality, Reach within) {

  /** Returns that of hosts whose ranks share memory. */
  public static Level hosts(Locality hosts) {
    return new Level(hosts, Reach.HOST);
  }

  /** Returns that of racks. */
  public static Level racks(Locality racks) {
    return new Level(racks, Reach.NETWORK);
  }

  boolean isRacks() {
    return within == Reach.NETWORK;
  }

  /** Returns that of some of the ranks, in whose order they are numbered anew. */
  Level among(int[] some) {
    return new Level(locality.among(some), within);
  }
}
