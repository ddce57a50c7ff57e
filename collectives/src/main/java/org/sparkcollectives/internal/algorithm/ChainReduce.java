package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Pipelined chain reduce: the sum travels towards the root in segments, and each rank adds its own
 * to a segment while the one before is on its way. Ranks other than the root only read their
 * tensor. For reductions in place.
 *
 * <p>Steps: n-1, of a segment each. Bytes sent by each rank but the root: the tensor, in segments
 * of 64 to 256 KiB, the shorter the more ranks there are. Scratch: two segments.
 */
final class ChainReduce implements MessageAlgorithm<Call.Reduce> {

  private final Scratch scratch;

  ChainReduce(Scratch scratch) {
    this.scratch = scratch;
  }

  @Override
  public Cost cost(int ranks, long bytes) {
    Segments segments = Segments.of(ranks, bytes);
    return new Cost(ranks - 1, segments.count(), bytes, 1, segments.fill(ranks, bytes));
  }

  @Override
  public Crossing crossing(RackShape racks, Shape shape) {
    return Crossing.ofRing(racks, cost(racks.ranks(), shape));
  }

  @Override
  public void run(Peers peers, Call.Reduce call) {
    HostTensor tensor = call.tensor();
    int root = call.root();
    ReduceKernel kernel = call.kernel();
    int n = peers.size();
    int position = Math.floorMod(peers.rank() - root, n);
    Segments segments = Segments.of(n, tensor.byteSize());
    long offset = 0;
    for (int i = 0; i == 0 || offset < tensor.count(); i++) {
      HostTensor part = segments.at(tensor, offset);
      HostTensor sum = position == 0 ? part : scratch.copy(i % 2, part);
      kernel.premultiply(sum, 0, sum.count());
      if (position < n - 1) {
        peers.next().receiveAndReduce(sum, kernel);
      }
      if (position > 0) {
        // A second send to a peer waits for the first: the other scratch is free again then.
        peers.previous().send(sum);
      }
      offset += part.count();
    }
    peers.flush();
    if (position == 0) {
      kernel.finish(tensor, 0, tensor, 0, tensor.count(), n);
    }
  }
}
