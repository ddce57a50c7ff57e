package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Ring all-reduce (Patarasuk and Yuan, 2009): reduce-scatter around the ring, then all-gather.
 *
 * <p>Steps: 2(n-1). Bytes sent by each rank: 2(n-1)/n of the tensor.
 */
final class RingAllReduce implements MessageAlgorithm<Call.AllReduce> {

  private final Scratch scratch;

  RingAllReduce(Scratch scratch) {
    this.scratch = scratch;
  }

  @Override
  public Cost cost(int ranks, long bytes) {
    return cost(ranks, Shape.ofParts(bytes, true));
  }

  @Override
  public Cost cost(int ranks, Shape shape) {
    long addedUp = (shape.bytes() + shape.accumulated() * (ranks - 2)) / ranks;
    long collected = shape.results() * (ranks - 1) / ranks;
    return new Cost(2L * (ranks - 1), 2L * (ranks - 1), addedUp + collected);
  }

  @Override
  public Crossing crossing(RackShape racks, Shape shape) {
    return Crossing.ofRing(racks, cost(racks.ranks(), shape));
  }

  @Override
  public void run(Peers peers, Call.AllReduce call) {
    HostTensor contribution = call.contribution();
    ReduceKernel kernel = call.kernel();
    Chunks contributions = Chunks.of(contribution, peers.size());
    int rank = peers.rank();
    kernel.premultiply(contribution, 0, contribution.count());
    HostTensor sum = contributions.at(rank);
    if (peers.size() == 1) {
      sum = accumulator(kernel, 0, sum);
    }
    for (int step = 0; step < peers.size() - 1; step++) {
      peers.next().send(sum);
      sum = accumulator(kernel, step, contributions.at(rank - step - 1));
      // What comes first is a contribution to which nothing was added.
      peers.previous().receiveAndReduce(sum, step == 0 ? kernel : PartialReduction.ofSums(kernel));
    }
    // Each rank now owns the sum of chunk rank + 1; all ranks receive those same bits.
    Chunks chunks = call.isInPlace() ? contributions : Chunks.of(call.tensor(), peers.size());
    HostTensor owned = chunks.at(rank + 1);
    kernel.finish(owned, 0, call.addsUpInResult() ? owned : sum, 0, owned.count(), peers.size());
    RingAllGather.circulate(peers, chunks, 1);
    peers.flush();
  }

  /** Returns a contribution as an accumulator. */
  private HostTensor accumulator(ReduceKernel kernel, int step, HostTensor contribution) {
    if (kernel.reducesInPlace()) {
      return contribution;
    }
    // What one step adds up is what the next one sends, hence two. A second send to a peer waits
    // for the first, so the other one has been sent.
    HostTensor memory = scratch.piece(kernel.accumulatorType(), step % 2, contribution.count());
    kernel.load(memory, 0, contribution, 0, contribution.count());
    return memory;
  }
}
