package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Flat all-gather: each rank sends its part to all others. The parts may differ in size.
 *
 * <p>Steps: 1. Bytes sent by each rank: n-1 times its part, to all others at once.
 */
final class FlatAllGather implements MessageAlgorithm<Call.AllGather> {

  @Override
  public Cost cost(int ranks, long bytes) {
    return new Cost(1, ranks - 1, bytes * (ranks - 1) / ranks, ranks - 1);
  }

  @Override
  public void run(Peers peers, Call.AllGather call) {
    Chunks chunks = call.outputs();
    HostTensor input = call.input();
    int rank = peers.rank();
    int n = peers.size();
    HostTensor own = chunks.at(rank);
    own.copyFrom(0, input, 0, input.count());
    for (int distance = 1; distance < n; distance++) {
      peers.pair((rank + distance) % n).send(own);
    }
    for (int distance = 1; distance < n; distance++) {
      peers.pair(Math.floorMod(rank - distance, n)).receive(chunks.at(rank - distance));
    }
    peers.flush();
  }
}
