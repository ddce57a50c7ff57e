package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.DType;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Dissemination barrier (Hensgen, Finkel and Manber, 1988): in step k each rank tells the rank 2^k
 * ahead that it, and all it has heard of, have arrived.
 *
 * <p>Steps: ceil(log2 n). Bytes sent by each rank: one empty message a step.
 */
final class DisseminationBarrier implements MessageAlgorithm<Call.Barrier> {

  private static final HostTensor NOTHING = HostTensor.allocate(DType.UINT8, 0);

  @Override
  public Cost cost(int ranks, long bytes) {
    int steps = Integer.SIZE - Integer.numberOfLeadingZeros(ranks - 1);
    return new Cost(steps, steps, 0);
  }

  @Override
  public Crossing crossing(RackShape racks, Shape shape) {
    return Crossing.ofDealt(racks, racks.ranks(), distance -> 0);
  }

  @Override
  public void run(Peers peers, Call.Barrier call) {
    int n = peers.size();
    for (int distance = 1; distance < n; distance *= 2) {
      peers.pair(Math.floorMod(peers.rank() + distance, n)).send(NOTHING);
      peers.pair(Math.floorMod(peers.rank() - distance, n)).receive(NOTHING);
    }
    peers.flush();
  }
}
