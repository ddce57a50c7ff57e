package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Direct reduce-scatter: the owner of a part receives every rank's contribution itself. For small
 * tensors, and for reductions that accumulate in a wider type, which a ring would have to round at
 * every step.
 *
 * <p>Steps: 1. Bytes sent by each rank: all parts but one, to all others at once. Scratch: one part
 * in the accumulator's type, if that is another than the result's.
 */
final class DirectReduceScatter implements MessageAlgorithm<Call.ReduceScatter> {

  private final Scratch scratch;

  DirectReduceScatter(Scratch scratch) {
    this.scratch = scratch;
  }

  @Override
  public Cost cost(int ranks, long bytes) {
    return new Cost(1, ranks - 1, bytes * (ranks - 1) / ranks, ranks - 1);
  }

  @Override
  public void run(Peers peers, Call.ReduceScatter call) {
    ReduceKernel kernel = call.kernel();
    reduce(peers, call.output(), call.input().premultiplied(kernel), kernel, scratch);
  }

  /**
   * Reduces multiplied parts; the {@code output} of a rank may be its own part of {@code input}.
   */
  static void reduce(
      Peers peers, HostTensor output, Chunks input, ReduceKernel kernel, Scratch scratch) {
    int rank = peers.rank();
    int n = peers.size();
    for (int distance = 1; distance < n; distance++) {
      peers.pair(Math.floorMod(rank + distance, n)).send(input.at(rank + distance));
    }
    HostTensor own = input.at(rank);
    HostTensor accumulator =
        kernel.resultType() == kernel.accumulatorType()
            ? output
            : scratch.piece(kernel.accumulatorType(), 0, output.count());
    if (!accumulator.isSameMemoryAs(own)) {
      kernel.load(accumulator, 0, own, 0, output.count());
    }
    for (int distance = 1; distance < n - 1; distance++) {
      peers.pair(Math.floorMod(rank - distance, n)).receiveAndReduce(accumulator, kernel);
    }
    if (n == 1) {
      kernel.finish(output, 0, accumulator, 0, output.count(), 1);
    } else {
      peers
          .pair(Math.floorMod(rank + 1, n))
          .receiveAndReduce(accumulator, new LastContribution(kernel, output, n));
    }
    peers.flush();
  }
}
