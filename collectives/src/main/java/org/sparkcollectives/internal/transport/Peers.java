package org.sparkcollectives.internal.transport;

import java.util.Optional;

/**
 * The ranks of a group as an algorithm sees them: who I am, how many we are, a path to each, and
 * the topology, which is found once, when the group is made.
 *
 * <p>Only the thread that runs the group's current operation may use it.
 */
public interface Peers {

  /** Returns this rank. */
  int rank();

  /** Returns the number of ranks. */
  int size();

  /**
   * Returns the path to a rank, connected at the first message.
   *
   * @param rank any rank but this one
   */
  Pair pair(int rank);

  /** Returns the path to the next rank of the ring. */
  default Pair next() {
    return pair((rank() + 1) % size());
  }

  /** Returns the path to the previous rank of the ring. */
  default Pair previous() {
    return pair((rank() + size() - 1) % size());
  }

  /** Returns how far the ranks are from each other. */
  default Reach reach() {
    return Reach.NETWORK;
  }

  /** Returns the memory that all of them see. */
  default GroupMemory memory() {
    return GroupMemory.NONE;
  }

  /** Returns how the ranks are divided in nodes; empty where all are equally far apart. */
  default Optional<Hierarchy> hierarchy() {
    return Optional.empty();
  }

  /** Returns in which rack each rank is; empty where that is unknown, or nothing depends on it. */
  default Optional<Locality> racks() {
    return Optional.empty();
  }

  /**
   * Returns the order of the ranks by rack; empty where there is no other, or where they are in
   * that order.
   */
  default Optional<RackOrder> rackOrder() {
    return Optional.empty();
  }

  /** Returns the connections over which a large operation can go at once. */
  default Stripes stripes() {
    return Stripes.single(this);
  }

  /** Returns the same for operations of some of the ranks. */
  default Stripes stripesAmong(int... ranks) {
    return Stripes.single(this);
  }

  /** Waits until every send that was begun is done. */
  void flush();
}
