package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Pairwise all-to-all: in step d each rank sends to the rank d ahead and receives from the rank d
 * behind, so that no rank is sent to by two at the same time. Steps overlap: what is to be sent in
 * the next few goes out while a rank waits in this one. The parts may differ in size.
 *
 * <p>Steps: (n-1)/4, because four overlap. Bytes sent by each rank: all parts but its own.
 */
final class PairwiseAllToAll implements MessageAlgorithm<Call.AllToAll> {

  private static final int STEPS_AHEAD = 4;

  @Override
  public Cost cost(int ranks, long bytes) {
    int steps = (ranks - 1 + STEPS_AHEAD - 1) / STEPS_AHEAD;
    return new Cost(steps, ranks - 1, bytes * (ranks - 1) / ranks);
  }

  @Override
  public void run(Peers peers, Call.AllToAll call) {
    Chunks outputs = call.outputs();
    Chunks inputs = call.inputs();
    int rank = peers.rank();
    int n = peers.size();
    HostTensor own = outputs.at(rank);
    own.copyFrom(0, inputs.at(rank), 0, own.count());
    int ahead = 1;
    for (int distance = 1; distance < n; distance++) {
      for (; ahead < n && ahead < distance + STEPS_AHEAD; ahead++) {
        peers.pair((rank + ahead) % n).send(inputs.at(rank + ahead));
      }
      peers.pair(Math.floorMod(rank - distance, n)).receive(outputs.at(rank - distance));
    }
    peers.flush();
  }
}
