package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * The first ranks of a group, as many as the largest power of two. Each of the others has a rank
 * among them that stands in for it.
 *
 * @param size how many they are
 * @param all the number of ranks of the group
 */
record PowerOfTwo(int size, int all) {

  static PowerOfTwo within(int ranks) {
    return new PowerOfTwo(Integer.highestOneBit(ranks), ranks);
  }

  boolean isAll() {
    return size == all;
  }

  boolean contains(int rank) {
    return rank < size;
  }

  /** Returns how often the distance doubles until it reaches all of them. */
  int steps() {
    return Integer.numberOfTrailingZeros(size);
  }

  /**
   * The others hand their contributions to those that stand in for them, which add them to their
   * {@code sum}.
   */
  void fold(Peers peers, HostTensor contribution, HostTensor sum, ReduceKernel kernel) {
    int rank = peers.rank();
    if (!contains(rank)) {
      peers.pair(rank - size).send(contribution);
      peers.flush();
    } else if (rank + size < all) {
      peers.pair(rank + size).receiveAndReduce(sum, kernel);
    }
  }

  /** The others get the result. */
  void unfold(Peers peers, HostTensor tensor) {
    int rank = peers.rank();
    if (!contains(rank)) {
      peers.pair(rank - size).receive(tensor);
    } else if (rank + size < all) {
      peers.pair(rank + size).send(tensor);
      peers.flush();
    }
  }
}
