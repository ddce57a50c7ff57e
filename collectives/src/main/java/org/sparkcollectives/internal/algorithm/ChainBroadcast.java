package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Pipelined chain broadcast: the tensor travels from rank to rank in segments, and each rank passes
 * a segment on while it receives the next.
 *
 * <p>Steps: n-1, of a segment each. Bytes sent by each rank but the last: the tensor, in segments
 * of 64 to 256 KiB, the shorter the more ranks there are.
 */
final class ChainBroadcast implements MessageAlgorithm<Call.Broadcast> {

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
  public void run(Peers peers, Call.Broadcast call) {
    HostTensor tensor = call.tensor();
    int root = call.root();
    int n = peers.size();
    int position = Math.floorMod(peers.rank() - root, n);
    Segments segments = Segments.of(n, tensor.byteSize());
    long offset = 0;
    do {
      HostTensor part = segments.at(tensor, offset);
      if (position > 0) {
        peers.previous().receive(part);
      }
      if (position < n - 1) {
        peers.next().send(part);
      }
      offset += part.count();
    } while (offset < tensor.count());
    peers.flush();
  }
}
