package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Ring all-reduce (Patarasuk and Yuan, 2009): reduce-scatter around the ring, then all-gather.
 *
 * <p>Steps: 2(n-1); large chunks go in two messages. Bytes sent by each rank: 2(n-1)/n of the
 * tensor.
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
    long messages = 2L * (ranks - 1) * RingPipeline.of(ranks, shape.bytes()).pieces();
    return new Cost(2L * (ranks - 1), messages, addedUp + collected);
  }

  @Override
  public Crossing crossing(RackShape racks, Shape shape) {
    return Crossing.ofRing(racks, cost(racks.ranks(), shape));
  }

  @Override
  public void run(Peers peers, Call.AllReduce call) {
    HostTensor contribution = call.contribution();
    call.kernel().premultiply(contribution, 0, contribution.count());
    if (peers.size() == 1) {
      HostTensor sum = accumulator(call.kernel(), 0, contribution);
      finish(call, call.tensor(), sum, 1);
      return;
    }
    RingPipeline pipeline = RingPipeline.of(peers.size(), contribution.byteSize());
    pipeline.run(peers, 2 * (peers.size() - 1), new Steps(peers, call, pipeline));
    peers.flush();
  }

  /** Adds up all chunks, and then circulates the sums. */
  private final class Steps implements RingPipeline.Steps {
    private final Call.AllReduce call;
    private final RingPipeline pipeline;
    private final int rank;
    private final int n;
    private final Chunks[] contributions;
    private final Chunks[] results;

    /** The sum that was received last, of each piece. */
    private final HostTensor[] sums;

    Steps(Peers peers, Call.AllReduce call, RingPipeline pipeline) {
      this.call = call;
      this.pipeline = pipeline;
      rank = peers.rank();
      n = peers.size();
      contributions = pipeline.cut(Chunks.of(call.contribution(), n));
      results = call.isInPlace() ? contributions : pipeline.cut(Chunks.of(call.tensor(), n));
      sums = new HostTensor[pipeline.pieces()];
    }

    @Override
    public HostTensor outgoing(int step, int piece) {
      if (step == 0) {
        return contributions[piece].at(rank);
      }
      return step < n - 1 ? sums[piece] : results[piece].at(rank + n - step);
    }

    @Override
    public void receive(Pair previous, int step, int piece) {
      if (step >= n - 1) {
        previous.receive(results[piece].at(rank + n - 1 - step));
        return;
      }
      ReduceKernel kernel = call.kernel();
      HostTensor part = contributions[piece].at(rank - step - 1);
      HostTensor sum = accumulator(kernel, pipeline.accumulator(step, piece), part);
      // What comes first is a contribution to which nothing was added.
      previous.receiveAndReduce(sum, step == 0 ? kernel : PartialReduction.ofSums(kernel));
      sums[piece] = sum;
      if (step == n - 2) {
        // Each rank now owns the sum of chunk rank + 1; all ranks receive those same bits.
        finish(call, results[piece].at(rank + 1), sum, n);
      }
    }
  }

  private static void finish(Call.AllReduce call, HostTensor owned, HostTensor sum, int ranks) {
    call.kernel().finish(owned, 0, call.addsUpInResult() ? owned : sum, 0, owned.count(), ranks);
  }

  /** Returns a contribution as an accumulator. */
  private HostTensor accumulator(ReduceKernel kernel, int index, HostTensor contribution) {
    if (kernel.reducesInPlace()) {
      return contribution;
    }
    HostTensor memory = scratch.piece(kernel.accumulatorType(), index, contribution.count());
    kernel.load(memory, 0, contribution, 0, contribution.count());
    return memory;
  }
}
