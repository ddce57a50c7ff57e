package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Pipelined chain broadcast: the tensor travels from rank to rank in segments, and each rank passes
 * a segment on while it receives the next.
 *
 * <p>Steps: n-2 and the number of segments. Bytes sent by each rank but the last: the tensor.
 */
final class ChainBroadcast implements MessageAlgorithm<Call.Broadcast> {

  static final long SEGMENT_BYTES = 256 * 1024;

  static long segments(long bytes) {
    return Math.max(1, (bytes + SEGMENT_BYTES - 1) / SEGMENT_BYTES);
  }

  @Override
  public Cost cost(int ranks, long bytes) {
    return new Cost(ranks - 2 + segments(bytes), segments(bytes), bytes);
  }

  @Override
  public void run(Peers peers, Call.Broadcast call) {
    HostTensor tensor = call.tensor();
    int root = call.root();
    int n = peers.size();
    int position = Math.floorMod(peers.rank() - root, n);
    long segment = Math.max(1, SEGMENT_BYTES / tensor.dtype().bytes());
    long offset = 0;
    do {
      HostTensor part = tensor.slice(offset, Math.min(segment, tensor.count() - offset));
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
