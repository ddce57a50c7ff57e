package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Ring all-gather: each part travels once around the ring. The parts may differ in size.
 *
 * <p>Steps: n-1; large parts go in two messages. Bytes sent by each rank: all parts but one.
 */
final class RingAllGather implements MessageAlgorithm<Call.AllGather> {

  @Override
  public Cost cost(int ranks, long bytes) {
    long messages = (ranks - 1L) * RingPipeline.of(ranks, bytes).pieces();
    return new Cost(ranks - 1, messages, bytes * (ranks - 1) / ranks);
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
    int rank = peers.rank();
    RingPipeline pipeline = RingPipeline.of(peers.size(), chunks.bytes());
    Chunks[] pieces = pipeline.cut(chunks);
    pipeline.run(
        peers,
        peers.size() - 1,
        new RingPipeline.Steps() {
          @Override
          public HostTensor outgoing(int step, int piece) {
            return pieces[piece].at(rank - step);
          }

          @Override
          public void receive(Pair previous, int step, int piece) {
            previous.receive(pieces[piece].at(rank - step - 1));
          }
        });
    peers.flush();
  }
}
