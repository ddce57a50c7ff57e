package org.sparkcollectives.internal.algorithm;

import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Binomial tree broadcast: in each step, every rank that has the tensor sends it to one that has
 * not.
 *
 * <p>Steps: floor(log2 n). Bytes sent by the root: ceil(log2 n) times the tensor; by others less.
 */
final class BinomialBroadcast implements MessageAlgorithm<Call.Broadcast> {

  @Override
  public Cost cost(int ranks, long bytes) {
    int children = Integer.SIZE - Integer.numberOfLeadingZeros(ranks - 1);
    int levels = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(ranks);
    return new Cost(levels, children, children * bytes);
  }

  @Override
  public Crossing crossing(RackShape racks, Shape shape) {
    return Crossing.ofTree(racks, cost(racks.ranks(), shape), shape.bytes());
  }

  @Override
  public void run(Peers peers, Call.Broadcast call) {
    HostTensor tensor = call.tensor();
    int root = call.root();
    BinomialTree tree = BinomialTree.of(peers.rank(), peers.size(), root);
    if (tree.parent() >= 0) {
      peers.pair(tree.parent()).receive(tensor);
    }
    for (int child : tree.children()) {
      peers.pair(child).send(tensor);
    }
    peers.flush();
  }
}
