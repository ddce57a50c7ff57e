package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Bruck's all-gather (Bruck et al., 1997): in each step a rank sends all that it has to the rank at
 * twice the distance of the step before, so that the parts that it has double. The parts may differ
 * in size.
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
  public Crossing crossing(RackShape racks, Shape shape) {
    int n = racks.ranks();
    return Crossing.ofDealt(
        racks, n, distance -> shape.bytes() * Math.min(distance, n - distance) / n);
  }

  @Override
  public boolean sendsMoreFarther() {
    return true;
  }

  @Override
  public void run(Peers peers, Call.AllGather call) {
    Chunks chunks = call.outputs();
    HostTensor input = call.input();
    int rank = peers.rank();
    int n = peers.size();
    // Part i here is that of rank + i, until all are there.
    long[] start = new long[n + 1];
    for (int i = 0; i < n; i++) {
      start[i + 1] = start[i] + chunks.at(rank + i).count();
    }
    HostTensor all = scratch.piece(input.dtype(), 0, start[n]);
    all.copyFrom(0, input, 0, input.count());
    for (int have = 1; have < n; have *= 2) {
      int more = Math.min(have, n - have);
      peers.pair(Math.floorMod(rank - have, n)).send(all.slice(0, start[more]));
      HostTensor received = all.slice(start[have], start[have + more] - start[have]);
      peers.pair((rank + have) % n).receive(received);
    }
    for (int i = 0; i < n; i++) {
      HostTensor part = chunks.at(rank + i);
      part.copyFrom(0, all, start[i], part.count());
    }
    peers.flush();
  }
}
