package org.sparkcollectives.internal.algorithm;

import java.util.List;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Linear scatter: the root sends each rank its part. What leaves the root is the lower bound for
 * any algorithm.
 *
 * <p>Steps: 1, at the root n-1 messages. Bytes sent by the root: all parts but its own.
 */
final class LinearScatter implements MessageAlgorithm<Call.Scatter> {

  @Override
  public Cost cost(int ranks, long bytes) {
    return new Cost(1, ranks - 1, bytes * (ranks - 1) / ranks, ranks - 1);
  }

  /** Scatters {@code inputs}, one for each rank; empty except at the root. */
  @Override
  public void run(Peers peers, Call.Scatter call) {
    HostTensor output = call.output();
    List<HostTensor> inputs = call.inputs();
    int root = call.root();
    int rank = peers.rank();
    if (rank == root) {
      for (int distance = 1; distance < peers.size(); distance++) {
        int peer = (rank + distance) % peers.size();
        peers.pair(peer).send(inputs.get(peer));
      }
      output.copyFrom(0, inputs.get(rank), 0, output.count());
      peers.flush();
    } else {
      peers.pair(root).receive(output);
    }
  }
}
