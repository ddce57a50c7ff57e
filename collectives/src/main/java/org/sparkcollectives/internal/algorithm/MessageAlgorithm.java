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
}
