package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Bruck's all-gather (Bruck et al., 1997) of equal parts: in each step a rank sends all that it has
 * to the rank at twice the distance of the step before, so that what it has doubles.
 *
 * <p>Steps: ceil(log2 n). Bytes sent by each rank: all parts but one. Scratch: all parts.
 */
final class BruckAllGather implements MessageAlgorithm<Call.AllGather> {

  private final Scratch scratch;

  BruckAllGather(Scratch scratch) {
    this.scratch = scratch;
  }

  @Override
  public Cost cost(int ranks, long bytes) {
    int steps = Integer.SIZE - Integer.numberOfLeadingZeros(ranks - 1);
    return new Cost(steps, steps, bytes * (ranks - 1) / ranks);
  }

  @Override
  public void run(Peers peers, Call.AllGather call) {
    Chunks chunks = call.outputs();
    HostTensor input = call.input();
    int rank = peers.rank();
    int n = peers.size();
    long part = input.count();
    // Part i here is that of rank + i, until all are there.
    HostTensor all = scratch.piece(input.dtype(), 0, part * n);
    all.copyFrom(0, input, 0, part);
    for (int have = 1; have < n; have *= 2) {
      int more = Math.min(have, n - have);
      peers.pair(Math.floorMod(rank - have, n)).send(all.slice(0, more * part));
      peers.pair((rank + have) % n).receive(all.slice(have * part, more * part));
    }
    for (int i = 0; i < n; i++) {
      chunks.at(rank + i).copyFrom(0, all, i * part, part);
    }
    peers.flush();
  }
}
