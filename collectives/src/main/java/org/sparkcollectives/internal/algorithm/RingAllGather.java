package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Ring all-gather: each part travels once around the ring. The parts may differ in size.
 *
 * <p>Steps: n-1. Bytes sent by each rank: all parts but one.
 */
final class RingAllGather implements MessageAlgorithm<Call.AllGather> {

  @Override
  public Cost cost(int ranks, long bytes) {
    return new Cost(ranks - 1, ranks - 1, bytes * (ranks - 1) / ranks);
  }

  @Override
  public Crossing crossing(RackShape racks, Shape shape) {
    return Crossing.ofRing(racks, cost(racks.ranks(), shape));
  }

  @Override
  public void run(Peers peers, Call.AllGather call) {
    Chunks chunks = call.outputs();
    HostTensor input = call.input();
    HostTensor own = chunks.at(peers.rank());
    own.copyFrom(0, input, 0, input.count());
    circulate(peers, chunks, 0);
    peers.flush();
  }

  /**
   * Sends the finished chunks around the ring.
   *
   * @param shift rank r begins with the finished chunk {@code r + shift}
   */
  static void circulate(Peers peers, Chunks chunks, int shift) {
    int first = peers.rank() + shift;
    for (int step = 0; step < peers.size() - 1; step++) {
      peers.next().send(chunks.at(first - step));
      peers.previous().receive(chunks.at(first - step - 1));
    }
  }
}
