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
    return new Cost(2, 2L * (ranks - 1), 2 * bytes * (ranks - 1) / ranks, ranks - 1);
  }

  @Override
  public void run(Peers peers, Call.AllReduce call) {
    HostTensor tensor = call.tensor();
    ReduceKernel kernel = call.kernel();
    Chunks chunks = Chunks.of(tensor, peers.size());
    kernel.premultiply(tensor, 0, tensor.count());
    DirectReduceScatter.reduce(peers, chunks.at(peers.rank()), chunks, kernel, scratch);
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
