package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Ring all-reduce (Patarasuk and Yuan, 2009): reduce-scatter around the ring, then all-gather.
 *
 * <p>Steps: 2(n-1). Bytes sent by each rank: 2(n-1)/n of the tensor. For reductions in place.
 */
final class RingAllReduce implements MessageAlgorithm<Call.AllReduce> {

  @Override
  public Cost cost(int ranks, long bytes) {
    return new Cost(2L * (ranks - 1), 2L * (ranks - 1), 2 * bytes * (ranks - 1) / ranks);
  }

  @Override
  public void run(Peers peers, Call.AllReduce call) {
    HostTensor tensor = call.tensor();
    ReduceKernel kernel = call.kernel();
    Chunks chunks = Chunks.of(tensor, peers.size());
    int rank = peers.rank();
    kernel.premultiply(tensor, 0, tensor.count());
    for (int step = 0; step < peers.size() - 1; step++) {
      peers.next().send(chunks.at(rank - step));
      peers.previous().receiveAndReduce(chunks.at(rank - step - 1), kernel);
    }
    // Each rank now owns the sum of chunk rank + 1; all ranks receive those same bits.
    HostTensor owned = chunks.at(rank + 1);
    kernel.finish(owned, 0, owned, 0, owned.count(), peers.size());
    RingAllGather.circulate(peers, chunks, 1);
    peers.flush();
  }
}
