package org.sparkcollectives.internal.algorithm;

import java.util.List;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Linear gather: each rank sends its input to the root. What arrives at the root is the lower bound
 * for any algorithm.
 *
 * <p>Steps: 1, at the root n-1 messages. Bytes sent by each rank but the root: its input.
 */
final class LinearGather implements MessageAlgorithm<Call.Gather> {

  @Override
  public Cost cost(int ranks, long bytes) {
    return new Cost(1, ranks - 1, bytes * (ranks - 1) / ranks, ranks - 1);
  }

  /** Gathers in {@code outputs}, one for each rank; empty except at the root. */
  @Override
  public void run(Peers peers, Call.Gather call) {
    List<HostTensor> outputs = call.outputs();
    HostTensor input = call.input();
    int root = call.root();
    int rank = peers.rank();
    if (rank == root) {
      outputs.get(rank).copyFrom(0, input, 0, input.count());
      for (int distance = 1; distance < peers.size(); distance++) {
        int peer = (rank + distance) % peers.size();
        peers.pair(peer).receive(outputs.get(peer));
      }
    } else {
      peers.pair(root).send(input);
      peers.flush();
    }
  }
}
