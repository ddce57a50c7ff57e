package org.sparkcollectives.algorithm;

import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Peers;

/**
 * All-reduce by {@link DirectReduceScatter} and an all-gather around the ring. For reductions that
 * accumulate in a wider type: each element is rounded once.
 *
 * <p>Steps: 2(n-1). Bytes sent by each rank: 2(n-1)/n of the tensor.
 */
final class DirectAllReduce {

  private final DirectReduceScatter reduceScatter = new DirectReduceScatter();

  void run(Peers peers, HostTensor tensor, ReduceKernel kernel) {
    Chunks chunks = Chunks.of(tensor, peers.size());
    kernel.premultiply(tensor, 0, tensor.count());
    reduceScatter.run(peers, chunks.at(peers.rank()), chunks, kernel);
    RingAllGather.circulate(peers, chunks, 0);
    peers.flush();
  }
}
