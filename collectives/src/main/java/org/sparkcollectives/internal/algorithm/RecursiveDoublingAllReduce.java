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
 * Scratch: one tensor.
 */
final class RecursiveDoublingAllReduce implements MessageAlgorithm<Call.AllReduce> {

  private final Scratch scratch;

  RecursiveDoublingAllReduce(Scratch scratch) {
    this.scratch = scratch;
  }

  @Override
  public Cost cost(int ranks, long bytes) {
    return cost(ranks, Shape.ofParts(bytes, true));
  }

  @Override
  public Cost cost(int ranks, Shape shape) {
    PowerOfTwo core = PowerOfTwo.within(ranks);
    int steps = core.steps();
    return core.isAll()
        ? new Cost(steps, steps, shape.bytes() + (steps - 1) * shape.accumulated())
        // A rank that stands in for another sends one more, the result.
        : new Cost(steps + 2, steps + 1, steps * shape.accumulated() + shape.results());
  }

  @Override
  public Crossing crossing(RackShape racks, Shape shape) {
    PowerOfTwo core = PowerOfTwo.within(racks.ranks());
    return Crossing.ofPairs(racks, core, distance -> shape.accumulated())
        .folded(racks, core, shape.accumulated());
  }

  @Override
  public void run(Peers peers, Call.AllReduce call) {
    HostTensor tensor = call.tensor();
    ReduceKernel kernel = call.kernel();
    HostTensor contribution = call.contribution();
    kernel.premultiply(contribution, 0, contribution.count());
    PowerOfTwo core = PowerOfTwo.within(peers.size());
    HostTensor sum = contribution;
    if (core.contains(peers.rank()) && !kernel.reducesInPlace()) {
      sum = scratch.piece(kernel.accumulatorType(), 1, contribution.count());
      kernel.load(sum, 0, contribution, 0, contribution.count());
    }
    core.fold(peers, contribution, sum, kernel);
    if (core.contains(peers.rank())) {
      // A contribution to which nothing was added is sent as it is.
      boolean added = !core.isAll() || kernel.reducesInPlace();
      for (int distance = 1; distance < core.size(); distance *= 2) {
        HostTensor own = added ? scratch.copy(0, sum) : contribution;
        peers.pair(peers.rank() ^ distance).send(own);
        peers
            .pair(peers.rank() ^ distance)
            .receiveAndReduce(sum, added ? PartialReduction.ofSums(kernel) : kernel);
        // The scratch is written again in the next step.
        peers.flush();
        added = true;
      }
      kernel.finish(tensor, 0, sum, 0, tensor.count(), peers.size());
    }
    core.unfold(peers, tensor);
  }
}
