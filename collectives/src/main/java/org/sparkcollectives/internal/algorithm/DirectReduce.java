package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Reduce by {@link DirectReduceScatter} and a gather of the parts at the root. For reductions that
 * accumulate in a wider type: each element is rounded once.
 *
 * <p>Steps: 2. Bytes sent by each rank but the root: the tensor, to all others at once. Scratch:
 * one tensor on ranks other than the root.
 */
final class DirectReduce implements MessageAlgorithm<Call.Reduce> {

  private final Scratch scratch;

  DirectReduce(Scratch scratch) {
    this.scratch = scratch;
  }

  @Override
  public Cost cost(int ranks, long bytes) {
    return new Cost(2, ranks, bytes, ranks - 1);
  }

  @Override
  public void run(Peers peers, Call.Reduce call) {
    HostTensor tensor = call.tensor();
    int root = call.root();
    ReduceKernel kernel = call.kernel();
    boolean atRoot = peers.rank() == root;
    HostTensor sum = tensor;
    if (!atRoot) {
      sum = HostTensor.allocate(tensor.dtype(), tensor.count());
      sum.copyFrom(0, tensor, 0, tensor.count());
    }
    kernel.premultiply(sum, 0, sum.count());
    Chunks chunks = Chunks.of(sum, peers.size());
    DirectReduceScatter.reduce(peers, chunks.at(peers.rank()), chunks, kernel, scratch);
    if (!atRoot) {
      peers.pair(root).send(chunks.at(peers.rank()));
    } else {
      for (int peer = 0; peer < peers.size(); peer++) {
        if (peer != root) {
          peers.pair(peer).receive(chunks.at(peer));
        }
      }
    }
    peers.flush();
  }
}
