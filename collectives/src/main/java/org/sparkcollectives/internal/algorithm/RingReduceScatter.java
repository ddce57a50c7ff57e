package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Ring reduce-scatter: the sum of each part travels once around the ring, and ends where it
 * belongs. The parts may differ in size; the input is only read.
 *
 * <p>Steps: n-1. Bytes sent by each rank: all parts but one. Scratch: two of the largest part.
 */
final class RingReduceScatter implements MessageAlgorithm<Call.ReduceScatter> {

  @Override
  public Cost cost(int ranks, long bytes) {
    return cost(ranks, Shape.ofParts(bytes, true));
  }

  @Override
  public Cost cost(int ranks, Shape shape) {
    long bytes = (shape.bytes() + shape.accumulated() * (ranks - 2)) / ranks;
    return new Cost(ranks - 1, ranks - 1, bytes);
  }

  @Override
  public Crossing crossing(RackShape racks, Shape shape) {
    return Crossing.ofRing(racks, cost(racks.ranks(), shape));
  }

  @Override
  public void run(Peers peers, Call.ReduceScatter call) {
    HostTensor output = call.output();
    ReduceKernel kernel = call.kernel();
    // Accumulators of the input's type are multiplied one by one.
    Chunks input = kernel.reducesInPlace() ? call.input() : call.input().premultiplied(kernel);
    int rank = peers.rank();
    int n = peers.size();
    boolean addsUpInOutput = kernel.resultType() == kernel.accumulatorType();
    // What one step adds up is what the next one sends, hence two: one fills while one leaves.
    HostTensor[] scratch = {
      HostTensor.allocate(kernel.accumulatorType(), input.largest()),
      HostTensor.allocate(kernel.accumulatorType(), input.largest())
    };
    // What comes first is a contribution to which nothing was added.
    HostTensor sum = input.at(rank - 1);
    if (kernel.reducesInPlace() && kernel.premultiplies()) {
      sum = accumulator(scratch[1], sum, kernel);
    }
    for (int step = 0; step < n - 1; step++) {
      peers.next().send(sum);
      boolean last = step == n - 2;
      HostTensor memory = last && addsUpInOutput ? output : scratch[step % 2];
      sum = accumulator(memory, input.at(rank - step - 2), kernel);
      peers.previous().receiveAndReduce(sum, step == 0 ? kernel : PartialReduction.ofSums(kernel));
      // The scratch that was sent is written again two steps on.
      peers.flush();
    }
    if (n == 1) {
      sum = accumulator(addsUpInOutput ? output : scratch[0], input.at(0), kernel);
    }
    kernel.finish(output, 0, addsUpInOutput ? output : sum, 0, output.count(), n);
  }

  /** Returns this rank's contribution to a part, as an accumulator. */
  private static HostTensor accumulator(HostTensor memory, HostTensor part, ReduceKernel kernel) {
    HostTensor accumulator = memory.slice(0, part.count());
    kernel.load(accumulator, 0, part, 0, part.count());
    if (kernel.reducesInPlace()) {
      kernel.premultiply(accumulator, 0, part.count());
    }
    return accumulator;
  }
}
