package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Direct all-reduce: each rank adds up one part, which all others send it, and sends the result to
 * all. Reductions that accumulate in a wider type round each element once.
 *
 * <p>Steps: 2. Bytes sent by each rank: 2(n-1)/n of the tensor, to all others at once.
 */
final class DirectAllReduce implements MessageAlgorithm<Call.AllReduce> {

  private final Scratch scratch;

  DirectAllReduce(Scratch scratch) {
    this.scratch = scratch;
  }

  @Override
  public Cost cost(int ranks, long bytes) {
    return cost(ranks, Shape.ofParts(bytes, true));
  }

  @Override
  public Cost cost(int ranks, Shape shape) {
    long bytes = (shape.bytes() + shape.results()) * (ranks - 1) / ranks;
    return new Cost(2, 2L * (ranks - 1), bytes, ranks - 1);
  }

  @Override
  public void run(Peers peers, Call.AllReduce call) {
    HostTensor contribution = call.contribution();
    ReduceKernel kernel = call.kernel();
    Chunks contributions = Chunks.of(contribution, peers.size());
    Chunks chunks = call.isInPlace() ? contributions : Chunks.of(call.tensor(), peers.size());
    kernel.premultiply(contribution, 0, contribution.count());
    DirectReduceScatter.reduce(peers, chunks.at(peers.rank()), contributions, kernel, scratch);
    int rank = peers.rank();
    int n = peers.size();
    for (int distance = 1; distance < n; distance++) {
      peers.pair((rank + distance) % n).send(chunks.at(rank));
    }
    for (int distance = 1; distance < n; distance++) {
      peers.pair(Math.floorMod(rank - distance, n)).receive(chunks.at(rank - distance));
    }
    peers.flush();
  }
}
