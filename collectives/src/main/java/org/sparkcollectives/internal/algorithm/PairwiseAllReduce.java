package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Pairwise all-reduce: each rank adds up one part, to which it gets the contributions one after the
 * other, from the rank d behind in step d, and sends the result to all likewise. For reductions
 * that accumulate in a wider type: nothing crosses in that type. Steps overlap, as those of {@link
 * PairwiseAllToAll}.
 *
 * <p>Steps: (n-1)/2, because four of 2(n-1) overlap. Bytes sent by each rank: 2(n-1)/n of the
 * tensor. Scratch: one part in the accumulator's type.
 */
final class PairwiseAllReduce implements MessageAlgorithm<Call.AllReduce> {

  private static final int STEPS_AHEAD = 4;

  private final Scratch scratch;

  PairwiseAllReduce(Scratch scratch) {
    this.scratch = scratch;
  }

  @Override
  public Cost cost(int ranks, long bytes) {
    int steps = (ranks - 1 + STEPS_AHEAD - 1) / STEPS_AHEAD;
    return new Cost(2L * steps, 2L * (ranks - 1), 2 * bytes * (ranks - 1) / ranks);
  }

  @Override
  public void run(Peers peers, Call.AllReduce call) {
    HostTensor tensor = call.tensor();
    ReduceKernel kernel = call.kernel();
    kernel.premultiply(tensor, 0, tensor.count());
    int rank = peers.rank();
    int n = peers.size();
    Chunks chunks = Chunks.of(tensor, n);
    HostTensor own = chunks.at(rank);
    HostTensor sum = scratch.piece(kernel.accumulatorType(), 0, own.count());
    kernel.load(sum, 0, own, 0, own.count());
    inPairs(
        peers,
        (pair, distance) -> pair.send(chunks.at(rank + distance)),
        (pair, distance) -> pair.receiveAndReduce(sum, kernel));
    kernel.finish(own, 0, sum, 0, own.count(), n);
    // What was sent is written to from here on.
    peers.flush();
    inPairs(
        peers,
        (pair, distance) -> pair.send(own),
        (pair, distance) -> pair.receive(chunks.at(rank - distance)));
    peers.flush();
  }

  /** Does something with the rank at a distance. */
  private interface Exchange {
    void with(Pair pair, int distance);
  }

  private static void inPairs(Peers peers, Exchange send, Exchange receive) {
    int rank = peers.rank();
    int n = peers.size();
    int ahead = 1;
    for (int distance = 1; distance < n; distance++) {
      for (; ahead < n && ahead < distance + STEPS_AHEAD; ahead++) {
        send.with(peers.pair((rank + ahead) % n), ahead);
      }
      receive.with(peers.pair(Math.floorMod(rank - distance, n)), distance);
    }
  }
}
