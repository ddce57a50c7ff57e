package org.sparkcollectives.internal.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Flat all-reduce: each rank sends its tensor to all others, and adds up all of them in the order
 * of their ranks. For tensors so small that only the number of steps counts.
 *
 * <p>Steps: 1. Bytes sent by each rank: n-1 times the tensor. Scratch: n tensors.
 */
final class FlatAllReduce implements MessageAlgorithm<Call.AllReduce> {

  private final Scratch scratch;

  FlatAllReduce(Scratch scratch) {
    this.scratch = scratch;
  }

  @Override
  public Cost cost(int ranks, long bytes) {
    return new Cost(1, ranks - 1, (ranks - 1) * bytes, ranks - 1);
  }

  @Override
  public void run(Peers peers, Call.AllReduce call) {
    HostTensor contribution = call.contribution();
    ReduceKernel kernel = call.kernel();
    int rank = peers.rank();
    int n = peers.size();
    kernel.premultiply(contribution, 0, contribution.count());
    List<HostTensor> all = new ArrayList<>(n);
    for (int peer = 0; peer < n; peer++) {
      all.add(
          peer == rank
              ? own(rank, call)
              : scratch.piece(contribution.dtype(), peer, contribution.count()));
    }
    for (int distance = 1; distance < n; distance++) {
      peers.pair((rank + distance) % n).send(all.get(rank));
    }
    for (int distance = 1; distance < n; distance++) {
      int peer = Math.floorMod(rank - distance, n);
      peers.pair(peer).receive(all.get(peer));
    }
    new TileReduction(kernel)
        .run(call.tensor(), all.get(0), all.subList(1, n), (offset, count) -> {});
    peers.flush();
  }

  /** Returns what this rank sends, apart from the result, which is written while it is sent. */
  private HostTensor own(int rank, Call.AllReduce call) {
    return call.isInPlace() ? scratch.copy(rank, call.contribution()) : call.contribution();
  }
}
