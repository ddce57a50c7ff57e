package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Recursive doubling all-reduce (Thakur, Rabenseifner and Gropp, 2005): in each step two ranks add
 * up what they have, each with the rank at twice the distance of the step before. Both add the same
 * two tensors, so both have the same bits. Ranks beyond a power of two hand theirs to another
 * first.
 *
 * <p>Steps: log2 n, and 2 where n is no power of two. Bytes sent by each rank: one tensor a step.
 * Scratch: one tensor. For reductions in place.
 */
final class RecursiveDoublingAllReduce implements MessageAlgorithm<Call.AllReduce> {

  private final Scratch scratch;

  RecursiveDoublingAllReduce(Scratch scratch) {
    this.scratch = scratch;
  }

  @Override
  public Cost cost(int ranks, long bytes) {
    PowerOfTwo core = PowerOfTwo.within(ranks);
    // A rank that stands in for another sends one more, the result.
    int sent = core.steps() + (core.isAll() ? 0 : 1);
    return new Cost(core.steps() + (core.isAll() ? 0 : 2), sent, sent * bytes);
  }

  @Override
  public void run(Peers peers, Call.AllReduce call) {
    HostTensor tensor = call.tensor();
    ReduceKernel kernel = call.kernel();
    kernel.premultiply(tensor, 0, tensor.count());
    PowerOfTwo core = PowerOfTwo.within(peers.size());
    core.fold(peers, tensor, kernel);
    if (core.contains(peers.rank())) {
      for (int distance = 1; distance < core.size(); distance *= 2) {
        HostTensor own = scratch.copy(0, tensor);
        peers.pair(peers.rank() ^ distance).send(own);
        peers.pair(peers.rank() ^ distance).receiveAndReduce(tensor, kernel);
        // The scratch is written again in the next step.
        peers.flush();
      }
      kernel.finish(tensor, 0, tensor, 0, tensor.count(), peers.size());
    }
    core.unfold(peers, tensor);
  }
}
