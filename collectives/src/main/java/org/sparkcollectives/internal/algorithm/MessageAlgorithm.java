package org.sparkcollectives.internal.algorithm;

/** An algorithm that sends messages between the ranks. */
interface MessageAlgorithm<C> extends Algorithm<C> {

  /**
   * Returns what it costs.
   *
   * @param ranks 2 or more
   * @param bytes the size of the tensor, or of all parts together
   */
  Cost cost(int ranks, long bytes);

  /**
   * Returns what a call costs whose contributions, sums and results may have elements of different
   * sizes.
   *
   * @param ranks 2 or more
   */
  default Cost cost(int ranks, Shape shape) {
    return cost(ranks, shape.bytes());
  }

  /** Returns the price of what leaves a rack, where ranks are in the order of their racks. */
  default Crossing crossing(RackShape racks, Shape shape) {
    return Crossing.ofAll(racks, cost(racks.ranks(), shape));
  }

  /**
   * Returns whether ranks send the more the farther they send: then least leaves a rack if its
   * ranks are as far from each other as can be, and not neighbours.
   */
  default boolean sendsMoreFarther() {
    return false;
  }
}
