package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Bruck's all-gather (Bruck et al., 1997) turned round: in each step a rank hands all sums of ranks
 * that are at least so far ahead to the rank at that distance, which adds them to its own, and half
 * the distance is left. The parts may differ in size; the input is only read.
 *
 * <p>Steps: ceil(log2 n). Bytes sent by each rank: all parts but one. Scratch: all parts.
 */
final class BruckReduceScatter implements MessageAlgorithm<Call.ReduceScatter> {

  private final Scratch scratch;

  BruckReduceScatter(Scratch scratch) {
    this.scratch = scratch;
  }

  @Override
  public Cost cost(int ranks, long bytes) {
    return cost(ranks, Shape.ofParts(bytes, true));
  }

  @Override
  public Cost cost(int ranks, Shape shape) {
    int steps = Integer.SIZE - Integer.numberOfLeadingZeros(ranks - 1);
    return new Cost(steps, steps, shape.accumulated() * (ranks - 1) / ranks);
  }

  @Override
  public Crossing crossing(RackShape racks, Shape shape) {
    int n = racks.ranks();
    return Crossing.ofDealt(
        racks, n, distance -> shape.accumulated() * Math.min(distance, n - distance) / n);
  }

  @Override
  public boolean sendsMoreFarther() {
    return true;
  }

  @Override
  public void run(Peers peers, Call.ReduceScatter call) {
    HostTensor output = call.output();
    ReduceKernel kernel = call.kernel();
    // Accumulators of the input's type are multiplied all at once.
    Chunks input = kernel.reducesInPlace() ? call.input() : call.input().premultiplied(kernel);
    int rank = peers.rank();
    int n = peers.size();
    // Sum i here is for rank + i, and goes there in steps whose lengths add up to i.
    long[] start = new long[n + 1];
    for (int i = 0; i < n; i++) {
      start[i + 1] = start[i] + input.at(rank + i).count();
    }
    HostTensor sums = scratch.piece(kernel.accumulatorType(), 0, start[n]);
    for (int i = 0; i < n; i++) {
      HostTensor part = input.at(rank + i);
      kernel.load(sums, start[i], part, 0, part.count());
    }
    if (kernel.reducesInPlace()) {
      kernel.premultiply(sums, 0, start[n]);
    }
    for (int distance = Integer.highestOneBit(n - 1); distance > 0; distance /= 2) {
      int given = Math.min(distance, n - distance);
      HostTensor handedOn = sums.slice(start[distance], start[distance + given] - start[distance]);
      peers.pair((rank + distance) % n).send(handedOn);
      HostTensor kept = sums.slice(0, start[given]);
      peers
          .pair(Math.floorMod(rank - distance, n))
          .receiveAndReduce(kept, PartialReduction.ofSums(kernel));
    }
    kernel.finish(output, 0, sums, 0, output.count(), n);
    peers.flush();
  }
}
