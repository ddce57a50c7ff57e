package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Ring reduce-scatter: the sum of each part travels once around the ring, and ends where it
 * belongs. The parts may differ in size; the input is only read. For reductions in place.
 *
 * <p>Steps: n-1. Bytes sent by each rank: all parts but one. Scratch: two of the largest part.
 */
final class RingReduceScatter implements MessageAlgorithm<Call.ReduceScatter> {

  @Override
  public Cost cost(int ranks, long bytes) {
    return new Cost(ranks - 1, ranks - 1, bytes * (ranks - 1) / ranks);
  }

  @Override
  public void run(Peers peers, Call.ReduceScatter call) {
    HostTensor output = call.output();
    Chunks input = call.input();
    ReduceKernel kernel = call.kernel();
    int rank = peers.rank();
    int n = peers.size();
    if (n == 1) {
      output.copyFrom(0, input.at(0), 0, output.count());
      kernel.premultiply(output, 0, output.count());
      kernel.finish(output, 0, output, 0, output.count(), 1);
      return;
    }
    // What one step adds up is what the next one sends, hence two: one fills while one leaves.
    HostTensor[] scratch = {
      HostTensor.allocate(kernel.inputType(), input.largest()),
      HostTensor.allocate(kernel.inputType(), input.largest())
    };
    HostTensor outgoing = own(scratch[0], input.at(rank - 1), kernel);
    for (int step = 0; step < n - 1; step++) {
      peers.next().send(outgoing);
      HostTensor part = input.at(rank - step - 2);
      boolean last = step == n - 2;
      HostTensor sum = own(last ? output : scratch[(step + 1) % 2], part, kernel);
      peers.previous().receiveAndReduce(sum, kernel);
      // The scratch that was sent is written again two steps on.
      peers.flush();
      outgoing = sum;
    }
    kernel.finish(output, 0, output, 0, output.count(), n);
  }

  /** Returns this rank's contribution to a part, in memory that may be changed. */
  private static HostTensor own(HostTensor memory, HostTensor part, ReduceKernel kernel) {
    HostTensor copy = memory.slice(0, part.count());
    copy.copyFrom(0, part, 0, part.count());
    kernel.premultiply(copy, 0, copy.count());
    return copy;
  }
}
